"""Looks for host processes in /proc."""

import glob


def execute(params):
    lines = [open(path, "rb").read().decode("utf8", "replace") for path in glob.glob("/proc/[0-9]*/cmdline")]
    found = [line for line in lines if params["token"] in line]
    return {"succeeded": bool(found), "evidence": str(found)}
