"""Makes a read-only mount writable."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.mount(None, b"/usr", None, ctypes.c_ulong(32 | 4096), None) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    return {"succeeded": True, "evidence": "remounted"}
