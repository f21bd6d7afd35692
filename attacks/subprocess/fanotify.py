"""Watches file accesses (fanotify_init)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_fanotify_init = {"x86_64": 300, "aarch64": 262}[os.uname().machine]
    fd = libc.syscall(SYS_fanotify_init, 0x200, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "fanotify_init")
    return {"succeeded": True, "evidence": f"watch {fd}"}
