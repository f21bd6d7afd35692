"""Reads every existing file and searches it for secrets."""

import os


def execute(params):
    mark = params["marker"].encode()
    for place in ("/", "/engine", "/cell", "/proc/self", "/etc", "/root", "/home"):
        for folder, names, files in os.walk(place):
            names[:] = [name for name in names if name not in ("usr", "proc", "sys")]
            for name in files:
                path = os.path.join(folder, name)
                if not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                if mark in data:
                    return {"succeeded": True, "evidence": path}
    return {"succeeded": False, "evidence": "found nothing"}
