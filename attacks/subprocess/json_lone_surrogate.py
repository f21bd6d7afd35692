"""Replies with a lone surrogate, which UTF-8 cannot represent."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'{"text":"\\ud800"}' + b"}")
    os._exit(0)
