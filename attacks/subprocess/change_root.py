"""Changes its root directory to escape from it."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.chroot(b"/tmp") != 0:
        raise OSError(ctypes.get_errno(), "chroot")
    return {"succeeded": True, "evidence": "changed the root"}
