"""Searches the interpreter for the parameters of an earlier call."""

import gc


def execute(params):
    mine = params["call_secret"]
    seen = [value["call_secret"] for value in gc.get_objects() if type(value) is dict and "call_secret" in value]
    others = [value for value in seen if value != mine]
    return {"succeeded": bool(others), "evidence": str(others)}
