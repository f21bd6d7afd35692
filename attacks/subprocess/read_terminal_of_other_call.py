"""Reads what a concurrent call wrote to a terminal."""

import fcntl, os, time

TIOCSPTLCK = 0x40045431


def execute(params):
    if params["call_secret"] == "of the first call":
        terminal = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(terminal, TIOCSPTLCK, bytes(4))
        os.write(terminal, b"data of the first call\n")
        time.sleep(1)
        return {"succeeded": False, "evidence": ""}
    time.sleep(0.4)
    seen = ""
    for name in os.listdir("/dev/pts"):
        try:
            fd = os.open("/dev/pts/" + name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            seen += os.read(fd, 100).decode()
        except OSError:
            pass
    return {"succeeded": "first call" in seen, "evidence": seen}
