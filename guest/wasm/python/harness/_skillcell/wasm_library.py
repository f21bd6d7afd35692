"""Where the standard library of this engine differs from what skills rely on, and what makes up for it."""

import errno
import os
import select
import sys
import time


def adapt():
    # Libraries that know Pyodide would look for its JavaScript; what they do on Linux works.
    sys.platform = "linux"
    time.sleep = sleep
    if not hasattr(os, "fork"):
        os.fork = fork


def sleep(seconds, /):
    """Waits in the host: the engine's own sleep would use up CPU time."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    # The host waits in whole milliseconds; nobody may wake too early.
    _select((), (), (), -(-seconds * 1000 // 1) / 1000)


def fork():
    """Never works; asked for, it is reported like anywhere else."""
    sys.audit("os.fork")
    raise OSError(errno.ENOSYS, "a Wasm cell has no processes")


# Kept, for a skill may replace it.
_select = select.select
