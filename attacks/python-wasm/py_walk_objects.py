"""Searches all objects, modules and frames for secrets of the host and for ways to JavaScript."""

import gc
import re
import sys


def values():
    gc.unfreeze()
    things = [thing for thing in gc.get_objects() if isinstance(thing, (dict, list, tuple))]
    frame = sys._getframe()
    while frame is not None:
        things.append(dict(frame.f_locals))
        frame = frame.f_back
    for thing in things:
        for value in list(thing.values() if isinstance(thing, dict) else thing):
            # Dictionaries of plain strings are not among the objects that the collector tracks.
            yield from list(value.values()) if isinstance(value, dict) else [value]


def execute(params):
    secret = re.compile(params["marker"] + "[0-9a-f]{8}")
    shown = [value if isinstance(value, str) else repr(value) for value in values() if isinstance(value, (str, bytes))]
    leaks = [text for text in shown if secret.search(text)]
    proxies = [cls.__name__ for cls in object.__subclasses__() if cls.__name__.startswith("Js")]
    return {"succeeded": bool(leaks or proxies), "evidence": str((leaks[:1], proxies))}
