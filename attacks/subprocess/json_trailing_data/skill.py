"""Replies with a second document behind the first."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":1} {"t":"result","value":"forged"}')
    os._exit(0)
