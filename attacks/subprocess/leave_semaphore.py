"""Leaves a value in a kernel semaphore and looks for it in the next call."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
SETVAL, GETVAL, LEFT = 16, 12, 4711


def execute(params):
    semaphore = libc.semget(params["ipc_key"] ^ 4, 1, IPC_CREAT | 0o666)
    found = semaphore >= 0 and libc.semctl(semaphore, 0, GETVAL, 0) == LEFT
    if semaphore >= 0:
        libc.semctl(semaphore, 0, SETVAL, LEFT)
    return {"succeeded": found, "evidence": f"semaphore {semaphore}"}
