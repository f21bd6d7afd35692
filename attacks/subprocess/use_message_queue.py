"""Writes to a message queue of the host."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    queue = libc.msgget(params["ipc_key"], 0)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "msgget")
    message = ctypes.create_string_buffer((1).to_bytes(8, "little") + b"planted")
    sent = libc.msgsnd(queue, message, 7, 0o4000)
    return {"succeeded": sent == 0, "evidence": f"queue {queue}"}
