"""Creates a user namespace to become root in it."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return {"succeeded": True, "evidence": "new user namespace"}
