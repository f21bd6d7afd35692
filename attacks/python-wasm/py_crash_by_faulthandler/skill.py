"""Crashes by the functions of faulthandler that exist for it."""

def execute(params):
    import faulthandler

    faulthandler._sigsegv()
