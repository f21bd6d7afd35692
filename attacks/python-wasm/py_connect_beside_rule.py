"""Sends something other than HTTP to a port that no rule covers."""

import socket


def execute(params):
    with socket.create_connection(("127.0.0.1", params["tcp_port"]), timeout=2) as peer:
        peer.sendall(b"hello")
        return {"succeeded": True, "evidence": repr(peer.recv(100))}
