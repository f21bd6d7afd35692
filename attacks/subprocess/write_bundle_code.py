"""Overwrites its own code so that the next call runs something else."""

import os


def execute(params):
    os.chmod(__file__, 0o644)
    with open(__file__, "a") as file:
        file.write("\n# planted\n")
    return {"succeeded": True, "evidence": "changed " + __file__}
