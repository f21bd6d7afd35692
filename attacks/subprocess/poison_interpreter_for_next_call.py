"""Changes a builtin and looks for the change in the next call."""

import builtins


def execute(params):
    found = hasattr(builtins, "poisoned")
    builtins.poisoned = True
    return {"succeeded": found, "evidence": "the change of the earlier call is still there" if found else ""}
