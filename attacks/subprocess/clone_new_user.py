"""Starts a process in a new user namespace with clone.

limits: { processes: 16 }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    pid = libc.syscall(SYS_clone, ctypes.c_ulong(0x10000000 | 17), None, None, None, None)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return {"succeeded": True, "evidence": f"pid {pid} in a new user namespace"}
