"""Frames between the cell and its host: u32 little-endian length, then one UTF-8 JSON object."""

import os

from . import minijson

CHANNEL_FD = 3
# Saved before skill code runs: a skill that replaces os.write must not break its own denials.
_dumps, _loads, _read, _write = minijson.dumps, minijson.loads, os.read, os.write


class Closed(Exception):
    """The host has closed the channel."""


def send(frame, encoded_value=None):
    """Sends one frame. `encoded_value` is JSON text that becomes the key `value` as is."""
    text = _dumps(frame)
    if encoded_value is not None:
        text = text[:-1] + ', "value": ' + encoded_value + "}"
    # A lone surrogate cannot be encoded as UTF-8; with backslashreplace it becomes its JSON escape.
    body = text.encode("utf-8", "backslashreplace")
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[_write(CHANNEL_FD, data) :]


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
