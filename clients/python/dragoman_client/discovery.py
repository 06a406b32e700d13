"""Finds the daemon of this machine through the file it leaves in its data directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional


def default_data_dir() -> Path:
    given = os.environ.get("DRAGOMAN_DATA_DIR")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dragoman"


def discover(data_dir: Optional[os.PathLike[str] | str] = None) -> Optional[dict[str, Any]]:
    """None when there is no file, or the process that wrote it is gone: then nobody may be shown the token."""
    try:
        found = json.loads((Path(data_dir) if data_dir else default_data_dir()).joinpath("daemon.json").read_text())
    except (OSError, ValueError):
        return None
    started = _process_start(found["pid"])
    return found if started is not None and started == found["started"] else None


def _process_start(pid: int) -> Optional[str]:
    """When a process began, as the daemon writes it: pids are given again."""
    try:
        if sys.platform == "linux":
            stat = Path(f"/proc/{pid}/stat").read_text()
            ticks = stat[stat.rindex(")") + 2 :].split(" ")[19]
            return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}:{ticks}"
        text = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
        ).stdout
        return text.strip() or None
    except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
        return None
