"""Calls a function of the C library."""

def execute(params):
    import ctypes

    return {"succeeded": ctypes.CDLL(None).getpid() > 0, "evidence": "called getpid"}
