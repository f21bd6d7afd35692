"""Searches all objects, modules and frames for secrets of the host and for ways to JavaScript."""

import gc
import re
import sys


def texts():
    gc.unfreeze()
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            yield from thing.values()
        elif isinstance(thing, (list, tuple)):
            yield from thing
    frame = sys._getframe()
    while frame is not None:
        yield from frame.f_locals.values()
        frame = frame.f_back


def execute(params):
    secret = re.compile(params["marker"] + "[0-9a-f]{8}")
    shown = [value if isinstance(value, str) else repr(value) for value in texts() if isinstance(value, (str, bytes))]
    leaks = [text for text in shown if secret.search(text)]
    proxies = [cls.__name__ for cls in object.__subclasses__() if cls.__name__.startswith("Js")]
    return {"succeeded": bool(leaks or proxies), "evidence": str((leaks[:1], proxies))}
