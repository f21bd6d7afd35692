"""Leaves a file in every writable folder and looks for files of the previous call."""

import os

NAME = ".left-by-a-call"
MOST_FOLDERS = 20_000


def folders():
    seen = 0
    for path, names, _ in os.walk("/"):
        if path == "/":
            names[:] = [name for name in names if name not in ("proc", "sys")]
        yield path
        seen += 1
        if seen >= MOST_FOLDERS:
            return


def execute(params):
    found, planted = [], 0
    for folder in ("/run", "/tmp", "/dev/shm", "/var/tmp", "/skill", "/skill/__pycache__", "/run/zygote", "/run/cell", *folders()):
        path = os.path.join(folder, NAME)
        try:
            with open(path) as file:
                text = file.read()
            found += [text] if text != params["call_secret"] else []
        except OSError:
            pass
        try:
            with open(path, "w") as file:
                file.write(params["call_secret"])
            planted += 1
        except OSError:
            pass
    return {"succeeded": bool(found), "evidence": f"{sorted(set(found))}, planted {planted}"}
