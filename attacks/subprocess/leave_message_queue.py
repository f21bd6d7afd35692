"""Leaves a message in a kernel queue and looks for it in the next call."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
IPC_NOWAIT = 0o4000


class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 64)]


def execute(params):
    queue = libc.msgget(params["ipc_key"] ^ 2, IPC_CREAT | 0o666)
    got = Message()
    found = queue >= 0 and libc.msgrcv(queue, ctypes.byref(got), 64, ctypes.c_long(0), IPC_NOWAIT) >= 0
    left = Message(1, params["call_secret"].encode())
    if queue >= 0:
        libc.msgsnd(queue, ctypes.byref(left), 64, IPC_NOWAIT)
    return {"succeeded": found and got.text != left.text, "evidence": f"queue {queue}"}
