"""Maps single pages far apart, each of which costs two pages of page tables.

limits: { memory: 64MiB, cpu: 30s }
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
FAILED = ctypes.c_void_p(-1).value


def execute(params):
    made = 0
    for slot in range(1, 24000):
        place = libc.mmap(slot << 30, 4096, 1, 0x4022, -1, 0)
        if place == FAILED:
            raise MemoryError("no more mappings")
        ctypes.string_at(place, 1)
        made += 1
    return {"succeeded": True, "evidence": f"{made * 8192 >> 20} MiB of page tables"}
