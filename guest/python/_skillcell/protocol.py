"""Frames between the cell and its host: u32 little-endian length, then one UTF-8 JSON object."""

import _thread
import os

from . import minijson

CHANNEL_FD = 3
# Saved before skill code runs: a skill that replaces os.write must not break its own denials.
_dumps, _loads, _read, _write = minijson.dumps, minijson.loads, os.read, os.write
# Frames of several threads must not mix.
_sending = _thread.RLock()


class Closed(Exception):
    """The host has closed the channel."""


def send(frame, encoded_value=None):
    """Sends one frame. `encoded_value` is JSON text that becomes the key `value` as is."""
    _write_all(encoded(frame, encoded_value))


def encoded(frame, encoded_value=None):
    text = _dumps(frame)
    if encoded_value is not None:
        text = text[:-1] + ', "value": ' + encoded_value + "}"
    # A lone surrogate cannot be encoded as UTF-8; with backslashreplace it becomes its JSON escape.
    body = text.encode("utf-8", "backslashreplace")
    return len(body).to_bytes(4, "little") + body


def ask(number, op, args, payload):
    """Sends a request, without waiting for its answer. `payload` follows as raw bytes."""
    frame = {"t": "ask", "id": number, "op": op, "args": args}
    frame["payload_bytes"] = len(payload)
    body = _dumps(frame).encode("utf-8", "backslashreplace")
    _write_all(len(body).to_bytes(4, "little") + body + payload)


def receive_answer():
    """Waits for the answer to any request: the frame, and the raw bytes that follow it."""
    frame = receive()
    return frame, _read_exactly(frame.get("payload_bytes", 0))


def has_answer():
    """Whether there is something to receive."""
    import select

    poll = select.poll()
    poll.register(CHANNEL_FD, select.POLLIN)
    return bool(poll.poll(0))


def _write_all(data):
    rest = memoryview(data)
    with _sending:
        while rest:
            rest = rest[_write(CHANNEL_FD, rest) :]


def receive():
    """Waits for one frame from the host."""
    size = int.from_bytes(_read_exactly(4), "little")
    return _loads(_read_exactly(size))


def _read_exactly(count):
    chunks = []
    while count:
        chunk = _read(CHANNEL_FD, min(count, 1 << 20))
        if not chunk:
            raise Closed
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)
