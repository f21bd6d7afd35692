"""Resolves a name.

capabilities: null
"""

import socket


def execute(params):
    return {"succeeded": bool(socket.getaddrinfo("localhost", 80)), "evidence": "resolved"}
