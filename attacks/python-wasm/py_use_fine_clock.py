"""Measures with a clock that is fine enough to time caches."""

import time


def execute(params):
    steps = []
    for clock in (time.monotonic_ns, time.perf_counter_ns):
        for _ in range(200):
            start = now = clock()
            while now == start:
                now = clock()
            steps.append(now - start)
    finest = min(steps)
    return {"succeeded": finest < 50_000, "evidence": "steps of %d ns" % finest}
