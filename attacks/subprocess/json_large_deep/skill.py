"""Replies with eight megabytes of opening brackets."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b"[" * (8 << 20))
    os._exit(0)
