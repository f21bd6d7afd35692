"""Replies with an error of twelve megabytes."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"error","type":"Forged","trace":"","message":"' + b"x" * (12 << 20) + b'"}')
    os._exit(0)
