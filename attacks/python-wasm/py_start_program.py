"""Starts a program with subprocess."""

import subprocess


def execute(params):
    done = subprocess.run(["/bin/echo", "started"], capture_output=True, text=True)
    return {"succeeded": done.stdout == "started\n", "evidence": done.stdout}
