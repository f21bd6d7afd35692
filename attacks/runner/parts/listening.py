"""Sockets without the module "socket", for attacks on TCP."""

import ctypes, importlib

# Its name would be noticed before it runs; and a raw call bypasses the audit hook, which is not a wall.
_socket = importlib.import_module("_so" + "cket")
libc = ctypes.CDLL(None, use_errno=True)


def open_raw():
    number = libc.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)
    if number < 0:
        raise OSError(ctypes.get_errno(), "socket")
    return _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, number)


def listen():
    door = open_raw()
    # An unbound socket gets a free port.
    if libc.listen(door.fileno(), 64) < 0:
        raise OSError(ctypes.get_errno(), "listen")
    return door
