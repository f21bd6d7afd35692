"""Sends requests to the broker and never reads an answer."""

import json
import os


def frame(body, payload=b""):
    text = json.dumps(body).encode()
    return len(text).to_bytes(4, "little") + text + payload


def send(data):
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    request = frame({"t": "ask", "op": "httpClose", "args": {"body": 1}}) * 100
    while True:
        send(request)
