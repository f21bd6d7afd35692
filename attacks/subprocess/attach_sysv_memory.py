"""Attaches a shared memory segment of the host."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    segment = libc.shmget(params["ipc_key"], 0, 0)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmat.restype = ctypes.c_void_p
    return {"succeeded": True, "evidence": ctypes.string_at(libc.shmat(segment, None, 0o10000)).decode()}
