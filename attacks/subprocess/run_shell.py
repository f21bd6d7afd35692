"""Runs a shell command although the manifest declares no processes."""

import subprocess


def execute(params):
    done = subprocess.run(["/bin/sh", "-c", "id"], capture_output=True, text=True, timeout=5)
    return {"succeeded": done.returncode == 0, "evidence": done.stdout}
