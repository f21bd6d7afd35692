"""Fills System V shared memory segments that no process has mapped.

limits: { memory: 64MiB }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    libc.shmat.restype = ctypes.c_void_p
    for number in range(14):
        segment = libc.shmget(0, 16 << 20, 0o600)
        address = libc.shmat(segment, None, 0)
        if segment < 0 or address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "shmget")
        ctypes.memset(address, 1, 16 << 20)
        libc.shmdt(ctypes.c_void_p(address))
    return {"succeeded": True, "evidence": "224 MiB in segments"}
