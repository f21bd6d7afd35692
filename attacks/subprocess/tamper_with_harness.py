"""Disables every function of the harness that it can find, then reads the secret."""

import gc, types


def execute(params):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and "harness" in thing.__code__.co_filename:
            if not thing.__code__.co_freevars:
                thing.__code__ = (lambda *args, **names: None).__code__
    with open(params["secret_file"]) as file:
        text = file.read()
    print(text)
    return {"succeeded": True, "evidence": text}
