"""Connects to a server of the host.

capabilities: null
"""

import socket


def execute(params):
    with socket.create_connection(("127.0.0.1", params["tcp_port"]), timeout=2) as peer:
        return {"succeeded": True, "evidence": repr(peer.recv(100))}
