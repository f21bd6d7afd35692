"""Replies with an integer of 100000 digits."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b"9" * 100_000 + b"}")
    os._exit(0)
