"""Requests the session keyring of the user."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    key = libc.syscall(SYS_keyctl, 0, -3, 1)
    if key < 0:
        raise OSError(ctypes.get_errno(), "keyctl")
    return {"succeeded": True, "evidence": f"keyring {key}"}
