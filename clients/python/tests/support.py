"""What the suite that runs these tests (test/clients/python.test.ts) prepared."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Dict

STAGE: Dict[str, Any] = json.loads(os.environ["SKILLCELL_TEST_STAGE"])
URL: str = STAGE["url"]
TOKEN: str = STAGE["token"]
PROJECT: str = STAGE["project"]


def until(holds: Callable[[], bool]) -> None:
    """Waits until it holds. The suite has a deadline for a hang."""
    while not holds():
        time.sleep(0.05)


def sleeps(seconds: str) -> bool:
    """Whether a cell runs ``sleep`` with exactly this argument."""
    wanted = b"sleep\0" + seconds.encode() + b"\0"
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read() == wanted:
                    return True
        except OSError:
            pass  # Gone meanwhile.
    return False


def unique_seconds() -> str:
    """A minute that no other test sleeps."""
    return f"60.{time.time_ns()}"
