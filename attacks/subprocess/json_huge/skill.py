"""Replies with 64 MiB of JSON."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b'"' + b'x' * (64 << 20) + b'"' + b"}")
    os._exit(0)
