"""Changes built-in functions and types and looks for the change in the next call."""

import builtins
import gc


def execute(params):
    names = gc.get_referents(dict.__dict__)[0]
    found = hasattr(builtins, "poisoned") or "poisoned" in names
    builtins.poisoned = builtins.print = builtins.hash = lambda *_, **__: 0
    names["poisoned"] = True
    return {"succeeded": found, "evidence": "the change of the call before is still there"}
