"""Sends a datagram to a service on the host's loopback and reads the answer.

capabilities: null
"""

import socket


def execute(params):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(2)
    sock.sendto(b"hello", ("127.0.0.1", params["tcp_port"]))
    return {"succeeded": True, "evidence": sock.recv(200).decode()}
