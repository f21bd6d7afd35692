"""One command in WebAssembly: a Python script, and then what CPython does when it exits.

The image is taken before any script has run. Nothing of the interpreter survives the call, so it is not finalized; only
what others can see of that is done: exit handlers, and the writing of what open files still hold.
"""

import atexit
import gc
import io
import os
import sys

from . import protocol, script, wasm_cell

# Saved, because a script may replace them.
_run_exit_handlers, _collect, _get_objects = atexit._run_exitfuncs, gc.collect, gc.get_objects
_FLUSH_FAILED = 120


def run_command(call):
    start, args = call["command"]["start"], call["command"]["args"]
    _replace_stdin(script.take_source(start, call["params"].get("stdin", "")))
    wasm_cell.forget(_names_beside(start))
    known = set(sys.modules)
    try:
        script.run(start, args, after_limit=lambda: None)
    except SystemExit as error:
        code = _exit_code(error.code)
        # Its frames would keep the files of the script open.
        error.__traceback__ = error.__context__ = None
    except BaseException:
        # Reporting an error failed, too.
        code = 1
    code = _shut_down(known) or code
    protocol.send({"t": "ended", "exit_code": code})


def _replace_stdin(text):
    """A new stream, because that of the image has found out that it cannot seek."""
    script.set_stdin(text)
    raw = io.FileIO(0, "r", closefd=False)
    raw.name = "<stdin>"
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="surrogateescape")
    sys.stdin.mode = "r"


def _names_beside(start):
    """Modules that the script would find before those of the library, some of which are in the image."""
    if start["run"] == "module":
        folders = ["/skill"]
    elif start["run"] == "file":
        folders = [os.path.dirname(start["path"])]
    else:
        name = start["name"]
        folders = [os.path.dirname(name) if name.startswith("/") else ".", "/skill"]
    names = set()
    for folder in folders:
        try:
            names.update(name.removesuffix(".py") for name in os.listdir(folder))
        except OSError:
            pass
    return names


def _exit_code(code):
    """As CPython: a number, nothing, or something to print."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        sys.stdout.flush()
        print(code, file=sys.stderr)
    except Exception:
        pass
    return 1


def _shut_down(known):
    """Returns an exit code if the output could not be written."""
    threading = sys.modules.get("threading")
    try:
        if threading is not None:
            threading._shutdown()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    _run_exit_handlers()
    failed = _flush()
    for name in set(sys.modules) - known | {"__main__"}:
        module = sys.modules.pop(name, None)
        if name == "__main__" and module is not None:
            vars(module).clear()
    sys.last_value = sys.last_exc = None
    _collect()
    _write_open_files()
    return _flush() or failed


def _write_open_files():
    """What is still referenced is destroyed as well when an interpreter ends."""
    objects = _get_objects()
    for kind in (io.TextIOWrapper, (io.BufferedWriter, io.BufferedRandom)):
        for file in [one for one in objects if isinstance(one, kind)]:
            try:
                file.flush()
            except Exception:
                pass


def _flush():
    failed = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:
            # A script may close them.
            pass
        except Exception:
            failed = _FLUSH_FAILED
    return failed
