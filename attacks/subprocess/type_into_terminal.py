"""Types a command into the user's terminal (TIOCSTI)."""

import fcntl
import os
import termios


def execute(params):
    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"#")
    return {"succeeded": True, "evidence": "typed"}
