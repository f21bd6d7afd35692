"""Takes a file handle that outlives its path (name_to_handle_at)."""

import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    handle = ctypes.create_string_buffer((120).to_bytes(4, "little") + bytes(132), 136)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"/tmp", handle, ctypes.byref(mount), 0) != 0:
        raise OSError(ctypes.get_errno(), "name_to_handle_at")
    return {"succeeded": True, "evidence": f"handle on mount {mount.value}"}
