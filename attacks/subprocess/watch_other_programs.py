"""Watches which host programs are being used, by every means the kernel has."""

import ctypes, fcntl, os, time

libc = ctypes.CDLL(None, use_errno=True)


def execute(params):
    refusals = []
    for way in (by_inotify, by_fanotify, by_dnotify):
        try:
            return {"succeeded": True, "evidence": way()}
        except OSError as error:
            refusals.append(f"{way.__name__}: {error}")
    raise OSError(1, "; ".join(refusals))


def by_inotify():
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, b"/usr/bin", 0x20) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    for _ in range(40):
        time.sleep(0.05)
        try:
            name = os.read(watch, 4096)[16:48].split(b"\0")[0].decode("ascii", "replace")
            return f"somebody opened /usr/bin/{name}"
        except BlockingIOError:
            pass
    raise OSError(110, "inotify saw nothing")


def by_fanotify():
    number = {"x86_64": 300, "aarch64": 262}[os.uname().machine]
    watch = libc.syscall(number, 0x200, 0)
    if watch < 0:
        raise OSError(ctypes.get_errno(), "fanotify")
    return f"watch {watch}"


def by_dnotify():
    fcntl.fcntl(os.open("/usr/bin", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
    return "every read in /usr/bin is reported"
