"""Kills itself with a signal."""

import os
import signal


def execute(params):
    os.kill(os.getpid(), signal.SIGKILL)
    signal.raise_signal(signal.SIGKILL)
