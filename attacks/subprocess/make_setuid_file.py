"""Leaves a program in the workspace that runs on the host with the rights of the cell's user.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import ctypes
import os

PATH = "/workspace/rootshell"
SET_ID = (0o4755, 0o2755, 0o6755)
LIBC = ctypes.CDLL(None, use_errno=True)


def by_mode(mode):
    os.chmod(PATH, mode)


def by_descriptor(mode):
    with open(PATH, "rb") as file:
        os.fchmod(file.fileno(), mode)


def by_creation(mode):
    os.unlink(PATH)
    os.umask(0)
    os.close(os.open(PATH, os.O_CREAT | os.O_WRONLY, mode))


def by_node(mode):
    os.unlink(PATH)
    os.mknod(PATH, 0o100000 | mode)


def by_nameless_file(mode):
    descriptor = os.open("/workspace", os.O_TMPFILE | os.O_WRONLY, mode)
    os.unlink(PATH)
    os.link("/proc/self/fd/%d" % descriptor, PATH, follow_symlinks=True)


def by_openat2(mode):
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, mode, 0)
    os.unlink(PATH)
    if LIBC.syscall(437, -100, PATH.encode(), ctypes.byref(how), 24) < 0:
        raise OSError(ctypes.get_errno(), "openat2")


def execute(params):
    kept, refused = [], None
    for way in (by_mode, by_descriptor, by_creation, by_node, by_nameless_file, by_openat2):
        for mode in SET_ID:
            if not os.path.exists(PATH):
                open(PATH, "w").close()
            try:
                way(mode)
            except OSError as error:
                refused = error
            if os.path.exists(PATH) and os.stat(PATH).st_mode & 0o6000:
                kept.append("%s %o" % (way.__name__, mode))
                os.unlink(PATH)
    if not kept and refused is not None:
        raise refused
    return {"succeeded": bool(kept), "evidence": ", ".join(kept)}
