"""One command: report ready, receive it, then run a Python script in this process or start another program.

The result is the exit status of this process and what it printed; nothing is sent back, except the limit behind an
uncaught error.
"""

import os
import sys

from . import denials, loading, protocol

_PACKAGES = "/deps"
_BUNDLE = "/skill"
_HARNESS = "/harness"
# Where the code of the harness comes from: in a native cell, and in WebAssembly.
_HARNESS_FILES = (_HARNESS + "/", "/lib/python314.zip/_skillcell/")
_STDIN_FILE = "/tmp/.stdin"


def serve(init):
    """`init` is the host's first frame."""
    from . import lockdown

    lockdown.share_one_arena()
    lockdown.install_filter(bytes.fromhex(init["lockdown"]))
    os.environ.update(init["env"])
    if init["preload"]:
        protocol.send({"t": "loaded"})
    call = protocol.receive()
    start, args = call["command"]["start"], call["command"]["args"]
    stdin = call["params"].get("stdin", "")
    if start["run"] == "program":
        from . import launcher

        _set_stdin(stdin)
        launcher.run(start["path"], args, init)
    _watch(init)
    _set_stdin(take_source(start, stdin))
    run(start, args, after_limit=_finish)


def _finish():
    from . import cell

    cell.finish()


def take_source(start, stdin):
    """Returns what is left as standard input: nothing if the standard input is the source."""
    if start["run"] != "source" or "source" in start:
        return stdin
    start["source"] = stdin
    return ""


def _watch(init):
    """Installs what explains denials."""
    reporter = denials.Reporter()
    if init["proxy_port"]:
        from . import native_network

        native_network.install(init["proxy_port"])
    else:
        from . import no_network

        no_network.install()
    denials.install(init["view"], reporter, init["proxy_port"])


def _set_stdin(text):
    """Makes the text descriptor 0. A file, because a pipe would need someone who writes to it."""
    if not text:
        return
    set_stdin(text)


def set_stdin(text):
    data = memoryview(text.encode("utf-8", "surrogatepass"))
    number = os.open(_STDIN_FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(_STDIN_FILE)
    while data:
        data = data[os.write(number, data) :]
    os.lseek(number, 0, os.SEEK_SET)
    os.dup2(number, 0)
    os.close(number)


def run(start, args, after_limit):
    """Runs as CPython would run `python FILE`, `python -m NAME` or `python -`. Always raises SystemExit.

    `after_limit` is called when the host has been told that a limit stopped the script.
    """
    _prepare_interpreter()
    main = type(sys)("__main__")
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    try:
        if start["run"] == "module":
            _run_module(start["name"], args)
        elif start["run"] == "source":
            _run_source(main, start, args)
        else:
            _run_file(main, start["path"], args)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error)
        if _report_limit(error):
            after_limit()
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    raise SystemExit(0)


def _prepare_interpreter():
    """Undoes what the harness needs and an ordinary script does not expect."""
    import _sitebuiltins
    import builtins

    end = "Ctrl-D (i.e. EOF)"
    builtins.quit = _sitebuiltins.Quitter("quit", end)
    builtins.exit = _sitebuiltins.Quitter("exit", end)
    builtins.help = _sitebuiltins._Helper()
    sys.stdin.reconfigure(errors="surrogateescape")
    sys.stdout.reconfigure(errors="surrogateescape")
    if _HARNESS in sys.path:
        sys.path.remove(_HARNESS)
    sys.path_hooks.insert(0, loading._find_in_bundle)


def _add_packages():
    if os.path.isdir(_PACKAGES):
        sys.path.append(_PACKAGES)


def _run_file(main, path, args):
    sys.argv = [path, *args]
    sys.path.insert(0, os.path.dirname(path))
    _add_packages()
    with open(path, "rb") as file:
        source = file.read()
    _execute(main, source, path, file=path)


def _run_source(main, start, args):
    name = start["name"]
    is_file = name.startswith("/")
    sys.argv = [{"<stdin>": "-", "<string>": "-c"}.get(name, name), *args]
    # Code of the caller is written against the modules of the skill.
    sys.path[0:0] = [os.path.dirname(name) if is_file else "", _BUNDLE]
    _add_packages()
    _execute(main, start["source"], name, file=name if is_file else None)


def _execute(main, source, name, file):
    main.__dict__.update(__doc__=None, __package__=None, __spec__=None)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    if file is not None:
        from importlib.machinery import SourceFileLoader

        main.__dict__.update(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file))
    exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)


def _run_module(name, args):
    import runpy

    sys.argv = ["-m", *args]
    sys.path.insert(0, _BUNDLE)
    _keep_namespace(name.partition(".")[0])
    _add_packages()
    runpy._run_module_as_main(name)


def _keep_namespace(top):
    """A package of the same name would take the place of a folder of the skill without `__init__.py`."""
    folder = _BUNDLE + "/" + top
    own = (folder + "/__init__.py", folder + ".py")
    if os.path.isdir(folder) and not any(map(os.path.exists, own)):
        __import__(top)


def _is_harness(trace):
    return trace.tb_frame.f_code.co_filename.startswith(_HARNESS_FILES)


def _own_part(trace):
    """Without the harness, which is above the script, and below it where an act was denied."""
    while trace is not None and _is_harness(trace):
        trace = trace.tb_next
    last = trace
    while last is not None:
        if last.tb_next is not None and _is_harness(last.tb_next):
            last.tb_next = None
        last = last.tb_next
    return trace


def _report(error):
    """Prints the traceback without the frames of the harness."""
    trace = _own_part(error.__traceback__)
    try:
        sys.stdout.flush()
    except Exception:
        pass
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _report_limit(error):
    """Tells the host which limit is behind the error, if there is one."""
    from . import cell

    limit = cell.limit_behind(error)
    if limit is None:
        return False
    cell.reply({"t": "error", "type": type(error).__name__, "message": "", "trace": "", "limit": limit})
    return True
