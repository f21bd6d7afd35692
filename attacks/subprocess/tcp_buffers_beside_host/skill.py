"""Fills buffers of TCP, beside a host that it may reach."""

import socket


def fill():
    """Bytes that lie in buffers of the kernel, between ends that nobody reads."""
    listener = socket.create_server(("127.0.0.1", 0))
    held, kept = 0, []
    for _ in range(24):
        client = socket.create_connection(listener.getsockname(), timeout=2)
        server, _ = listener.accept()
        for end in (client, server):
            end.setblocking(False)
            kept.append(end)
            held += push(end)
    return held


def push(end):
    sent = 0
    try:
        while sent < 8 << 20:
            sent += end.send(bytes(1 << 16))
    except (BlockingIOError, OSError):
        pass
    return sent


def execute(params):
    held = fill()
    return {"succeeded": held > 40 << 20, "evidence": f"{held >> 20} MiB in buffers of TCP"}
