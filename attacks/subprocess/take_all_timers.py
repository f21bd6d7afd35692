"""Creates timers until the cell's user on the host can have no more."""

import ctypes, os, struct

libc = ctypes.CDLL(None, use_errno=True)
CLOCK_MONOTONIC, SIGEV_NONE = 1, 1
MANY = 1500


def execute(params):
    number = {"x86_64": 222, "aarch64": 107}[os.uname().machine]
    event = (ctypes.c_char * 64)()
    struct.pack_into("QiI", event, 0, 0, 0, SIGEV_NONE)
    for made in range(MANY):
        if libc.syscall(number, CLOCK_MONOTONIC, event, ctypes.byref(ctypes.c_int())) != 0:
            raise RuntimeError("the system gives no more timers than %d" % made)
    return {"succeeded": True, "evidence": "%d timers" % MANY}
