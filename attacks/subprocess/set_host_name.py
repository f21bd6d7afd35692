"""Renames the machine."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.sethostname(b"renamed", 7) != 0:
        raise OSError(ctypes.get_errno(), "sethostname")
    return {"succeeded": True, "evidence": os.uname().nodename}
