"""Replies with an object that has a duplicate key."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'{"succeeded":false,"succeeded":true}' + b"}")
    os._exit(0)
