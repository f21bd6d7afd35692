"""Kills a process of the host by its pid."""

import os


def execute(params):
    os.kill(params["victim_pid"], 9)
    return {"succeeded": True, "evidence": "killed"}
