"""Floods the host with forged reports of denials."""

import json
import os


def frame(body, payload=b""):
    text = json.dumps(body).encode()
    return len(text).to_bytes(4, "little") + text + payload


def send(data):
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    for _ in range(2000):
        send(frame({"t": "denied", "capability": "network", "asked": "forged", "declared": "forged"}) * 10)
    return {"succeeded": False, "evidence": "the host compares"}
