"""Replies with a second document after the first."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":1} {"t":"result","value":"forged"}')
    os._exit(0)
