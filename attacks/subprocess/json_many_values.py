"""Replies with a list of three million numbers."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b"[" + b"1," * 3_000_000 + b"1]" + b"}")
    os._exit(0)
