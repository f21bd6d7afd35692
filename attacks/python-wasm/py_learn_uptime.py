"""Learns from a clock how long the host or its process has been up."""

import time


def execute(params):
    # The clock of a call starts at one second.
    now = max(time.monotonic(), time.perf_counter())
    return {"succeeded": now > 30, "evidence": "up for %f seconds" % now}
