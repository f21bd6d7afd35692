"""Raises its own limits."""

import resource


def execute(params):
    wanted = {name: resource.getrlimit(name) for name in (resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE)}
    for name, (_, hard) in wanted.items():
        resource.setrlimit(name, (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return {"succeeded": True, "evidence": "raised"}
