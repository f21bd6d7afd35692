"""Queries which parts of a granted file are cached, which reveals when the host last used it.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    number = {"x86_64": 451, "aarch64": 451}[os.uname().machine]
    file = os.open("/workspace/data/report.txt", os.O_RDONLY)
    span, answer = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    if libc.syscall(number, file, span, answer, 0) < 0:
        raise OSError(ctypes.get_errno(), "cachestat")
    return {"succeeded": True, "evidence": "cachestat worked"}
