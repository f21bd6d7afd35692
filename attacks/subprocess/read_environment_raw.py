"""Looks for secrets of the runtime in the process's environment block in the kernel."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    with open("/proc/self/environ", "rb") as file:
        text = file.read().decode("utf8", "replace")
    libc.getenv.restype = ctypes.c_char_p
    inherited = libc.getenv(b"HOST_SECRET")
    return {"succeeded": params["marker"] in text or inherited is not None, "evidence": text}
