"""Types into a terminal (TIOCSTI) with the upper half of the command set, which the kernel ignores but a careless filter compares."""

import ctypes, fcntl, os, pty, termios

libc = ctypes.CDLL(None, use_errno=True)
SYS_ioctl = {"x86_64": 16, "aarch64": 29}[os.uname().machine]


def execute(params):
    if os.getsid(0) != os.getpid():
        os.setsid()
    _, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for command in (termios.TIOCSTI, termios.TIOCSTI | 1 << 32):
        if libc.syscall(SYS_ioctl, terminal, ctypes.c_ulong(command), b"#") == 0:
            return {"succeeded": True, "evidence": f"typed with command {command:#x}"}
    raise OSError(ctypes.get_errno(), "TIOCSTI")
