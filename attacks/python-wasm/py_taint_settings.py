"""Changes settings of the process and looks for them in the next call."""

import decimal
import gc
import os
import sys
import warnings


def execute(params):
    mine = (os.environ.get("PATH"), os.getcwd(), decimal.getcontext().prec, sys.getrecursionlimit(), gc.isenabled())
    found = "/planted" in mine or mine[2:] == (3, 777, False)
    os.environ["PATH"] = "/planted"
    os.chdir("/tmp")
    os.umask(0o777)
    decimal.getcontext().prec = 3
    sys.setrecursionlimit(777)
    sys.set_int_max_str_digits(0)
    warnings.simplefilter("error")
    gc.disable()
    gc.set_threshold(1)
    return {"succeeded": found, "evidence": str(mine)}
