"""Sends frames that only a cell or a host sends."""

import json
import os


def frame(body, payload=b""):
    text = json.dumps(body).encode()
    return len(text).to_bytes(4, "little") + text + payload


def send(data):
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    for kind in ("ready", "loaded", "failed", "log", "init", "call", "reply"):
        try:
            send(frame({"t": kind, "call": 1, "id": 0, "value": {"forged": True}}))
        except OSError:
            pass
    return {"succeeded": False, "evidence": "the host compares"}
