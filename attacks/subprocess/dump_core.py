"""Crashes a child with the largest core dump limit it can get.

limits: { processes: 4 }
"""

import os, resource, signal


def execute(params):
    pid = os.fork()
    if pid == 0:
        os.chdir("/tmp")
        try:
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        except (OSError, ValueError):
            pass
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()
    status = os.waitpid(pid, 0)[1]
    return {"succeeded": os.WCOREDUMP(status), "evidence": f"status {status}, files {os.listdir('/tmp')}"}
