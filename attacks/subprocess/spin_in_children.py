"""Burns CPU time in children while the parent sleeps.

limits: { processes: 16, cpu: 1s }
"""

import os
import time


def execute(params):
    for _ in range(3):
        if os.fork() == 0:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                pass
            os._exit(0)
    time.sleep(60)
    return {"succeeded": True, "evidence": "three minutes of processor time"}
