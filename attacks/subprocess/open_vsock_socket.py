"""Opens a socket of a family that no namespace confines (and never connects it).

capabilities: null
"""

import socket


def execute(params):
    sock = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    return {"succeeded": True, "evidence": f"descriptor {sock.fileno()}"}
