"""Smuggles a header into the value of another."""

import socket


def execute(params):
    request = (
        "GET /open/headers HTTP/1.0\r\nHost: a\r\nX-A: b\nX-Injected: 1\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", params["web_port"]), timeout=5) as peer:
        peer.sendall(request.encode("latin-1"))
        text = b"".join(iter(lambda: peer.recv(65536), b"")).decode("latin-1")
    return {"succeeded": params["marker"] in text, "evidence": text[-200:]}
