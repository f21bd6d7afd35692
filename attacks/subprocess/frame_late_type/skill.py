"""Sends a frame of twelve megabytes that says only at its end what it is."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"value":"' + b"forged" * (2 << 20) + b'","t":"result"}')
    os._exit(0)
