"""Sends requests to the broker and never reads an answer."""

from frames import frame, write


def execute(params):
    request = frame({"t": "ask", "op": "httpClose", "args": {"body": 1}}) * 100
    while True:
        write(request)
