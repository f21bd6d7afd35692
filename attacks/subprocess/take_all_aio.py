"""Takes asynchronous I/O contexts, of which the whole machine has a fixed number."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    number = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
    if libc.syscall(number, 128, ctypes.byref(ctypes.c_ulong(0))) < 0:
        raise OSError(ctypes.get_errno(), "io_setup")
    return {"succeeded": True, "evidence": "io_setup worked"}
