"""Handles page faults itself, a common tool of kernel exploits."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_userfaultfd = {"x86_64": 323, "aarch64": 282}[os.uname().machine]
    fd = libc.syscall(SYS_userfaultfd, 1)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "userfaultfd")
    return {"succeeded": True, "evidence": f"descriptor {fd}"}
