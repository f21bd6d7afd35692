"""Sends a datagram.

capabilities: null
"""

import socket


def execute(params):
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.sendto(b"hello", ("127.0.0.1", params["tcp_port"]))
    return {"succeeded": True, "evidence": repr(peer.recv(100))}
