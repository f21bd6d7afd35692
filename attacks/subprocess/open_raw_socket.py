"""Opens a raw socket to forge packets.

capabilities: null
"""

import socket


def execute(params):
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
    return {"succeeded": True, "evidence": f"descriptor {sock.fileno()}"}
