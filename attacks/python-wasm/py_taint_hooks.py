"""Leaves hooks, handlers and callbacks behind and looks for them in the next call."""

import atexit
import gc
import signal
import sys


def hook(*_):
    return None


def execute(params):
    found = hook in gc.callbacks or signal.getsignal(signal.SIGINT) is hook or sys.getprofile() is hook
    found = found or sys.unraisablehook is hook or atexit._ncallbacks() > 20
    for _ in range(30):
        atexit.register(hook)
    gc.callbacks.append(hook)
    signal.signal(signal.SIGINT, hook)
    sys.addaudithook(hook)
    sys.excepthook = sys.unraisablehook = sys.displayhook = hook
    sys.setprofile(hook)
    sys.settrace(hook)
    return {"succeeded": found, "evidence": "a hook of the call before is still there"}
