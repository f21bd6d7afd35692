"""Reads the environment of every process it can see."""

import glob


def execute(params):
    texts = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            texts.append(open(path, "rb").read().decode("utf8", "replace"))
        except OSError:
            pass
    found = [text for text in texts if params["marker"] in text]
    return {"succeeded": bool(found), "evidence": str(found)}
