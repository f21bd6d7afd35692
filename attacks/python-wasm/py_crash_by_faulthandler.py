"""Crashes with the test functions of faulthandler."""

def execute(params):
    import faulthandler

    faulthandler._sigsegv()
