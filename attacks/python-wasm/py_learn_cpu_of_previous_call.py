"""Learns from the CPU time how much work an earlier call did.

limits: { cpu: 10s }
"""

import time

LOADED = time.process_time()


def execute(params):
    before = time.process_time() - LOADED
    while time.process_time() - LOADED - before < 0.8:
        pass
    return {"succeeded": before > 0.5, "evidence": "%f seconds of CPU time before" % before}
