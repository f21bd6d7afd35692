"""Replies with a __proto__ key to change the objects of the host."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b'{"__proto__":{"ok":true,"polluted":true}}' + b"}")
    os._exit(0)
