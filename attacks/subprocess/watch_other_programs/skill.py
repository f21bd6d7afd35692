"""Watches which programs of the host are being used (inotify on the shared folder of programs)."""

import ctypes, os, time

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, b"/usr/bin", 0x20) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    for _ in range(20):
        time.sleep(0.05)
        try:
            name = os.read(watch, 4096)[16:48].split(b"\0")[0].decode("ascii", "replace")
            return {"succeeded": True, "evidence": f"somebody opened /usr/bin/{name}"}
        except BlockingIOError:
            pass
    return {"succeeded": False, "evidence": "nothing seen"}
