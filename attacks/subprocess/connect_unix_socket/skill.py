"""Connects to a unix socket of the host by its path."""

import socket


def execute(params):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(params["unix_socket"])
    return {"succeeded": True, "evidence": peer.recv(200).decode()}
