"""Stores data in the kernel, outside every limit of the cell."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_add_key = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    key = libc.syscall(SYS_add_key, b"user", b"planted", b"data", ctypes.c_size_t(4), -2)
    if key < 0:
        raise OSError(ctypes.get_errno(), "add_key")
    return {"succeeded": True, "evidence": f"key {key}"}
