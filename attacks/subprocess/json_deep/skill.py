"""Replies with JSON nested 100000 deep."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    os._exit(0)
