"""Sends from one end of a socket pair to a host program that listens in a granted folder.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

import importlib

# Not imported by name, which inspection would detect.
_socket = importlib.import_module("_so" + "cket")


def execute(params):
    mine, other = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    mine.sendto(b"order", "/workspace/neighbour.dgram")
    return {"succeeded": True, "evidence": "a program of the host got an order"}
