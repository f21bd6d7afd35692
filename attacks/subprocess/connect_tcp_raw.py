"""Connects to a service on the host's loopback through libc, bypassing the interpreter's hooks."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    fd = libc.socket(2, 1, 0)
    port = params["tcp_port"].to_bytes(2, "big")
    address = (2).to_bytes(2, "little") + port + bytes([127, 0, 0, 1]) + bytes(8)
    if libc.connect(fd, address, 16) != 0:
        raise OSError(ctypes.get_errno(), "connect")
    return {"succeeded": True, "evidence": os.read(fd, 200).decode()}
