"""Fills TCP buffers while it has a granted host.

capabilities:
  network: [{ host: 127.0.0.1, port: 9, scheme: http }]
limits: { memory: 64MiB }
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
AF_INET, SOCK_STREAM = 2, 1


def must(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result


def address(port):
    return struct.pack("=HH4s8x", AF_INET, (port >> 8) | (port & 0xFF) << 8, bytes([127, 0, 0, 1]))


def pairs(count):
    """Both ends of loopback connections, created without the library that the harness checks."""
    listener = must(libc.socket(AF_INET, SOCK_STREAM, 0), "socket")
    must(libc.bind(listener, address(45_454), 16), "bind")
    must(libc.listen(listener, 64), "listen")
    for _ in range(count):
        client = must(libc.socket(AF_INET, SOCK_STREAM, 0), "socket")
        must(libc.connect(client, address(45_454), 16), "connect")
        yield client
        yield must(libc.accept(listener, None, None), "accept")


def push(end):
    """Bytes in kernel buffers that the other end never reads."""
    os.set_blocking(end, False)
    sent = 0
    try:
        while sent < 8 << 20:
            sent += os.write(end, bytes(1 << 16))
    except BlockingIOError:
        pass
    return sent


def execute(params):
    held = sum(push(end) for end in list(pairs(24)))
    return {"succeeded": held > 80 << 20, "evidence": f"{held >> 20} MiB in buffers of TCP"}
