"""Sends signals to other processes."""

import os
import signal


def execute(params):
    os.kill(params["victim_pid"], signal.SIGKILL)
    return {"succeeded": False, "evidence": "the host looks"}
