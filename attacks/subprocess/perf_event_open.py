"""Counts processor events, a side channel on other processes."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    SYS_perf_event_open = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    attributes = ctypes.create_string_buffer(bytes([1, 0, 0, 0, 112, 0, 0, 0]) + bytes(32) + bytes([0x60]) + bytes(71), 112)
    fd = libc.syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    return {"succeeded": True, "evidence": f"counter {fd}"}
