"""Dies by a signal."""

import ctypes
import os
import signal


def execute(params):
    os.kill(os.getpid(), signal.SIGABRT)
    ctypes.string_at(0)
