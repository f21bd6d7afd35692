"""Runs a file of the host as a script."""

import runpy


def execute(params):
    try:
        runpy.run_path(params["secret_file"])
    except (NameError, SyntaxError, ValueError) as error:
        return {"succeeded": True, "evidence": "the file was read: %s" % error}
    return {"succeeded": True, "evidence": "the file ran"}
