"""Copies memory between processes (process_vm_readv)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    source, target = ctypes.create_string_buffer(b"secret"), ctypes.create_string_buffer(8)
    vector = ctypes.c_void_p * 2
    local, remote = vector(ctypes.addressof(target), 6), vector(ctypes.addressof(source), 6)
    copied = libc.process_vm_readv(os.getpid(), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    if copied < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    return {"succeeded": target.value == b"secret", "evidence": f"{copied} bytes"}
