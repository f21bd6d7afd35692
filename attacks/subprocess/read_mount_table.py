"""Looks for host paths in the mount table of every thread."""

import glob, threading


def execute(params):
    stay = threading.Event()
    thread = threading.Thread(target=stay.wait)
    thread.start()
    try:
        found = [line for name in tables() for line in lines(name) if any(path in line for path in params["host_paths"])]
    finally:
        stay.set()
    return {"succeeded": bool(found), "evidence": "".join(found)}


def tables():
    for kind in ("mountinfo", "mounts", "mountstats"):
        yield from glob.glob("/proc/self/" + kind)
        yield from glob.glob("/proc/self/task/*/" + kind)


def lines(name):
    try:
        with open(name) as file:
            return list(file)
    except OSError:
        return []
