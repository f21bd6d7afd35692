"""Opens a packet socket to listen to the network.

capabilities: null
"""

import socket


def execute(params):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)
    return {"succeeded": True, "evidence": f"descriptor {sock.fileno()}"}
