"""Names another host in a header."""

import socket


def execute(params):
    request = (
        "GET /open/headers HTTP/1.0\r\nHost: internal\r\nHost: internal\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", params["web_port"]), timeout=5) as peer:
        peer.sendall(request.encode("latin-1"))
        text = b"".join(iter(lambda: peer.recv(65536), b"")).decode("latin-1")
    return {"succeeded": params["marker"] in text, "evidence": text[-200:]}
