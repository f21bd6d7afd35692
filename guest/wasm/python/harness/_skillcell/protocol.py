"""Frames between the harness and the layer around the engine, over a descriptor that only exists inside the engine.

As outside: u32 little-endian length, one UTF-8 JSON object, and the raw bytes that it announces as `payload_bytes`.
"""

import os

from . import minijson

CHANNEL_FD = 3
# Saved before any skill code runs: a skill that replaces os.write must not break its own denials.
_dumps, _loads, _read, _write = minijson.dumps, minijson.loads, os.read, os.write


def send(frame, encoded_value=None):
    """Sends one frame. `encoded_value` is JSON text, sent as raw bytes."""
    # A lone surrogate has no UTF-8; with a backslash it becomes its JSON escape.
    _send(frame, None if encoded_value is None else encoded_value.encode("utf-8", "backslashreplace"))


def ask(op, args, payload=b""):
    """Asks the broker and waits: (value, bytes), or OSError with the broker's code."""
    _send({"t": "ask", "op": op, "args": args}, payload)
    size = int.from_bytes(_read_exactly(4), "little")
    answer = _loads(_read_exactly(size))
    return answer, _read_exactly(answer.get("payload_bytes", 0))


def _send(frame, payload):
    if payload is not None:
        frame = {**frame, "payload_bytes": len(payload)}
    body = _dumps(frame).encode("utf-8", "backslashreplace")
    _write_all(len(body).to_bytes(4, "little") + body)
    if payload:
        _write_all(payload)


def _write_all(data):
    rest = memoryview(data)
    while rest:
        rest = rest[_write(CHANNEL_FD, rest) :]


def _read_exactly(count):
    chunks = []
    while count:
        chunk = _read(CHANNEL_FD, min(count, 1 << 20))
        if not chunk:
            raise OSError("the channel is closed")
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)
