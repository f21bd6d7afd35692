"""Replies with a __proto__ key to change objects of the host."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'{"__proto__":{"ok":true,"polluted":true}}' + b"}")
    os._exit(0)
