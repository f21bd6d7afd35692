"""Opens a netlink socket to read and change the network.

capabilities: null
"""

import socket


def execute(params):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    return {"succeeded": True, "evidence": f"descriptor {sock.fileno()}"}
