"""Replies with an error at a limit that does not exist."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"error","type":"Limit","message":"forged","trace":"","limit":"everything"}')
    os._exit(0)
