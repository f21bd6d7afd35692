"""Replies with eight megabytes of good JSON and one byte too much."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":["' + b"forged" * (1 << 20) + b'"]}}')
    os._exit(0)
