"""Connects to a service on the host's loopback.

capabilities: null
"""

import socket


def execute(params):
    with socket.create_connection(("127.0.0.1", params["tcp_port"]), 2) as peer:
        return {"succeeded": True, "evidence": peer.recv(200).decode()}
