"""Creates its own mount namespace."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.unshare(0x00020000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return {"succeeded": True, "evidence": "new mount namespace"}
