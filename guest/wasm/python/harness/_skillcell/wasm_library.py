"""Compensates for differences between this engine's standard library and what skills rely on."""

import errno
import os
import select
import sys
import time


def adapt():
    # Libraries that support Pyodide would look for its JavaScript; their Linux code works.
    sys.platform = "linux"
    time.sleep = sleep
    for function in (fork, forkpty, posix_spawn, posix_spawnp):
        if not hasattr(os, function.__name__):
            setattr(os, function.__name__, function)


def sleep(seconds, /):
    """Waits in the host, because the engine's own sleep would use CPU time."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    # The host waits in whole milliseconds; round up, so that no sleep ends too early.
    _select((), (), (), -(-seconds * 1000 // 1) / 1000)


# None of these ever works; attempts are reported as in every other mode.


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


# Saved, because a skill may replace it.
_select = select.select
