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
    for function in (fork, forkpty, posix_spawn, posix_spawnp):
        if not hasattr(os, function.__name__):
            setattr(os, function.__name__, function)


def sleep(seconds, /):
    """Waits in the host: the engine's own sleep would use up CPU time."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    # The host waits in whole milliseconds; nobody may wake too early.
    _select((), (), (), -(-seconds * 1000 // 1) / 1000)


# None of these ever works; asked for, they are reported like anywhere else.


def fork():
    sys.audit("os.fork")
    raise _no_processes()


def forkpty():
    sys.audit("os.forkpty")
    raise _no_processes()


def posix_spawn(path, argv, env, /, **_):
    sys.audit("os.posix_spawn", path, argv, env)
    raise _no_processes()


def posix_spawnp(path, argv, env, /, **_):
    posix_spawn(path, argv, env)


def _no_processes():
    return OSError(errno.ENOSYS, "a Wasm cell has no processes")


# Kept, for a skill may replace it.
_select = select.select
