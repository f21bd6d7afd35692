"""Sends a second request after the first."""

import socket


def execute(params):
    request = (
        "GET /open/harmless HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
        "GET /closed/secret HTTP/1.0\r\nHost: a\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", params["web_port"]), timeout=5) as peer:
        peer.sendall(request.encode("latin-1"))
        text = b"".join(iter(lambda: peer.recv(65536), b"")).decode("latin-1")
    return {"succeeded": params["marker"] in text, "evidence": text[-200:]}
