"""Starts a process in a new user namespace with clone3, whose flags a filter cannot read.

limits: { processes: 16 }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    pid = libc.syscall(435, ctypes.byref(arguments), 88)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone3")
    return {"succeeded": True, "evidence": f"pid {pid} in a new user namespace"}
