"""Hides a forbidden socket family behind upper bits that the kernel ignores (and never connects it)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_socket = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
    fd = libc.syscall(SYS_socket, ctypes.c_ulong(40 | 1 << 32), 1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "socket")
    return {"succeeded": True, "evidence": f"descriptor {fd}"}
