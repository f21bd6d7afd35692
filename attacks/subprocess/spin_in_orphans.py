"""Burns CPU time in orphaned processes.

limits: { processes: 16, cpu: 1s }
"""

import os
import time


def execute(params):
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                end = time.monotonic() + 60
                while time.monotonic() < end:
                    pass
            os._exit(0)
        os.waitpid(child, 0)
    time.sleep(60)
    return {"succeeded": True, "evidence": "three minutes of processor time"}
