"""Takes a private copy of the whole mount tree (open_tree)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    fd = libc.syscall(428, -100, b"/", 1 | 0x8000)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "open_tree")
    return {"succeeded": True, "evidence": f"tree {fd}"}
