"""Announces a result of a petabyte."""

import json
import os


def frame(body, payload=b""):
    text = json.dumps(body).encode()
    return len(text).to_bytes(4, "little") + text + payload


def send(data):
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(frame({"t": "result", "payload_bytes": 1 << 50}, b"1"))
    return {"succeeded": False, "evidence": "the host compares"}
