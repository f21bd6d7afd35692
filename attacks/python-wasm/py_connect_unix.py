"""Connects to a socket in the file system.

capabilities: null
"""

import socket


def execute(params):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.connect(params["unix_socket"])
    return {"succeeded": True, "evidence": repr(peer.recv(100))}
