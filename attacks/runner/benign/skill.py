"""Adds two numbers."""


def execute(params):
    return {"sum": params["a"] + params["b"]}
