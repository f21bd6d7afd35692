"""Uses the kernel's debugger interface (ptrace) at all."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.ptrace(0, 0, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return {"succeeded": True, "evidence": "traced"}
