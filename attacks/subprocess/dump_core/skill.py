"""Leaves a core dump, handled by the host, behind."""

import resource


def execute(params):
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return {"succeeded": hard != 0, "evidence": f"core limit {hard}"}
