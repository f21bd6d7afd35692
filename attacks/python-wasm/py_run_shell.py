"""Runs a command with os.system, which Pyodide passes to a shell of the host."""

import os


def execute(params):
    status = os.system("echo done > /tmp/py_run_shell")
    return {"succeeded": status == 0, "evidence": "a shell ran"}
