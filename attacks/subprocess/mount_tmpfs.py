"""Mounts a file system over /tmp."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    return {"succeeded": True, "evidence": "mounted"}
