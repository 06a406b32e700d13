"""Drive coding agents through a dragoman daemon. Needs the standard library and nothing else.

    from dragoman_client import connect

    daemon = connect()
    with daemon.create_session("codex", directory="/path/to/project") as session:
        print(session.prompt("What does this project do?").text)
"""

from .client import Dragoman, Session, TurnOutcome, connect
from .errors import DragomanError

__all__ = ["Dragoman", "DragomanError", "Session", "TurnOutcome", "connect"]
