"""Joins the network namespace of pid 1."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.setns(os.open("/proc/1/ns/net", os.O_RDONLY), 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    return {"succeeded": True, "evidence": "joined"}
