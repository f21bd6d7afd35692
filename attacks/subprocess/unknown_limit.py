"""Replies with an error about an unknown limit."""

import os

from frames import send


def execute(params):
    send(b'{"t":"error","type":"Limit","message":"forged","trace":"","limit":"everything"}')
    os._exit(0)
