"""Learns the name of the host."""

import os


def execute(params):
    name = os.uname().nodename
    return {"succeeded": name == params["hostname"], "evidence": name}
