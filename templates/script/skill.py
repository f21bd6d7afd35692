"""{{name}}: runs {{script}} as a program and returns what it prints."""

import contextlib
import io
import os
import runpy
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{{script}}")


def execute(params):
    """`args` are the arguments of the program, `stdin` is its input. What it prints to stderr is the log of the call."""
    sys.argv = [SCRIPT, *params.get("args", [])]
    sys.stdin = io.TextIOWrapper(io.BytesIO(params.get("stdin", "").encode()), encoding="utf-8")
    printed = io.BytesIO()
    stdout = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    code = 0
    with contextlib.redirect_stdout(stdout):
        try:
            runpy.run_path(SCRIPT, run_name="__main__")
        except SystemExit as end:
            code = exit_code(end.code)
    stdout.flush()
    return {"exit_code": code, "stdout": printed.getvalue().decode("utf-8", "replace")}


def exit_code(code):
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1
