"""Has the kernel flush a whole file system, which stalls everyone on that disk.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    number = {"x86_64": 306, "aarch64": 267}[os.uname().machine]
    folder = os.open("/workspace", os.O_RDONLY)
    if libc.syscall(number, folder) < 0:
        raise OSError(ctypes.get_errno(), "syncfs")
    return {"succeeded": True, "evidence": "syncfs worked"}
