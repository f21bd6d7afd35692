"""Connects to an abstract unix socket of the host, which has no path to hide."""

import socket


def execute(params):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("\0" + params["token"])
    return {"succeeded": True, "evidence": peer.recv(200).decode()}
