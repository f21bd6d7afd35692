"""Takes an open file from another process (pidfd_getfd)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    pidfd = libc.syscall(434, params["victim_pid"], 0)
    if pidfd < 0:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    fd = libc.syscall(438, pidfd, 3, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return {"succeeded": True, "evidence": os.pread(fd, 200, 0).decode()}
