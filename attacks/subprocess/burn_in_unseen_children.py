"""Burns CPU time in short-lived children that are never waited for.

limits: { processes: 16, cpu: 1s, memory: 256MiB }
"""

import os, signal, time


def execute(params):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if os.fork() == 0:
                stop = time.process_time() + 0.05
                while time.process_time() < stop:
                    pass
                os._exit(0)
        except BlockingIOError:
            pass
        time.sleep(0.02)
    return {"succeeded": True, "evidence": "a minute of children"}
