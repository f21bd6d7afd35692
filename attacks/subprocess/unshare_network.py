"""Creates its own network namespace."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.unshare(0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return {"succeeded": True, "evidence": "new network namespace"}
