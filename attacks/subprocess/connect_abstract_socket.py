"""Connects to an abstract Unix socket of the host, which has no path that could be hidden.

capabilities: null
"""

import socket


def execute(params):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("\0" + params["token"])
    return {"succeeded": True, "evidence": peer.recv(200).decode()}
