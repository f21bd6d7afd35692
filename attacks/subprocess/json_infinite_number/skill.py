"""Replies with a number that overflows to infinity."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b'{"n":1e999}' + b"}")
    os._exit(0)
