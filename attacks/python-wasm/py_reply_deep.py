"""Answers with an error whose fields are nested a hundred thousand levels deep."""

from frames import write


def execute(params):
    body = b'{"t": "error", "denied": ' + b"[" * 120_000 + b"]" * 120_000 + b"}"
    write(len(body).to_bytes(4, "little") + body)
    return {"succeeded": False, "evidence": "the host compares"}
