"""Undoes that it dies with its host, to survive when the host is killed."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def execute(params):
    if libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return {"succeeded": True, "evidence": "no signal will come when the parent dies"}
