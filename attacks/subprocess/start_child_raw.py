"""Starts a child process with the raw clone call, bypassing the interpreter's hooks."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    pid = libc.syscall(SYS_clone, 17, None, None, None, None)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return {"succeeded": True, "evidence": f"child {pid}"}
