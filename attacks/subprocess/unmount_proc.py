"""Unmounts what hides the host underneath."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.umount2(b"/proc", 2) != 0:
        raise OSError(ctypes.get_errno(), "umount2")
    return {"succeeded": True, "evidence": "unmounted"}
