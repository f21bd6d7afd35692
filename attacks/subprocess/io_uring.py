"""Opens an io_uring, which does file and network I/O that filters do not see."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    fd = libc.syscall(425, 4, ctypes.create_string_buffer(256))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
    return {"succeeded": True, "evidence": f"ring {fd}"}
