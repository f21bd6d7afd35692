"""Mounts through the newer interface that old filters forget (fsopen)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    fd = libc.syscall(430, b"tmpfs", 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "fsopen")
    return {"succeeded": True, "evidence": f"context {fd}"}
