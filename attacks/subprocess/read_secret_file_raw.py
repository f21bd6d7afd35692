"""Reads a secret file of the host through libc, bypassing the interpreter's hooks."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    fd = libc.open(params["secret_file"].encode(), os.O_RDONLY)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "open")
    buffer = ctypes.create_string_buffer(256)
    libc.read(fd, buffer, 255)
    return {"succeeded": True, "evidence": buffer.value.decode()}
