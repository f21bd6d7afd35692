"""Disables address randomisation for the program it executes next."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    libc.personality(ctypes.c_ulong(0x0040000))
    now = libc.personality(ctypes.c_ulong(0xFFFFFFFF))
    return {"succeeded": now >= 0 and bool(now & 0x0040000), "evidence": hex(now)}
