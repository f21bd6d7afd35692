"""Leaves data in System V shared memory and looks for it in the next call."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]


def execute(params):
    found = libc.shmget(params["ipc_key"] ^ 1, 0, 0) >= 0
    segment = libc.shmget(params["ipc_key"] ^ 1, 4096, IPC_CREAT | 0o666)
    text = params["call_secret"].encode()
    if segment >= 0:
        address = libc.shmat(segment, None, 0)
        found = found and ctypes.string_at(address) != text
        ctypes.memmove(address, text + b"\0", len(text) + 1)
    return {"succeeded": found, "evidence": f"segment {segment}"}
