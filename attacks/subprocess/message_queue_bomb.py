"""Fills kernel memory with messages in thousands of queues.

limits: { memory: 64MiB }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    message = ctypes.create_string_buffer((1).to_bytes(8, "little") + bytes(8192))
    for number in range(12_000):
        queue = libc.msgget(0, 0o600)
        if queue < 0 or libc.msgsnd(queue, message, 8192, 0o4000) or libc.msgsnd(queue, message, 8192, 0o4000):
            raise OSError(ctypes.get_errno(), "msgsnd")
    return {"succeeded": True, "evidence": "187 MiB in messages"}
