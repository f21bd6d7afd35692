"""Measures with CPU time that is fine enough to time caches."""

import time


def execute(params):
    steps = []
    for _ in range(100):
        start = now = time.process_time_ns()
        while now == start:
            now = time.process_time_ns()
        steps.append(now - start)
    return {"succeeded": min(steps) < 50_000, "evidence": "steps of %d ns" % min(steps)}
