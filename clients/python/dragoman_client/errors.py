"""The one error this package raises."""

from __future__ import annotations

from typing import Any, Optional


class DragomanError(Exception):
    """``code`` is the daemon's own (see types.Problem), or ``unreachable``, ``no_daemon``, ``no_token``, ``bad_answer``, ``stream_ended``."""

    def __init__(self, code: str, message: str, status: int = 0, problem: Optional[dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = code
        #: HTTP status; 0 when no answer came.
        self.status = status
        self.problem = problem
