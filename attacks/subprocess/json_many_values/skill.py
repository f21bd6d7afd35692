"""Replies with a list of three million numbers."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b"[" + b"1," * 3_000_000 + b"1]" + b"}")
    os._exit(0)
