"""Runs a command by os.system, which Pyodide hands to a shell of the host."""

import os


def execute(params):
    status = os.system("echo done > /tmp/py_run_shell")
    return {"succeeded": status == 0, "evidence": "a shell ran"}
