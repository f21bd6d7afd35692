"""Opens a socket family that no namespace confines (never connects it)."""

import socket


def execute(params):
    sock = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    return {"succeeded": True, "evidence": f"descriptor {sock.fileno()}"}
