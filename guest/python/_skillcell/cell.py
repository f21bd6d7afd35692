"""One call: report ready, receive the task, load the skill, run it once, reply."""

import errno
import os
import sys

from . import denials, loading, protocol, results

_MAX_TRACE = 8000


def main():
    prepare_streams()
    protocol.send({"t": "ready"})
    try:
        serve(protocol.receive())
    except protocol.Closed:
        pass
    finish()


def prepare_streams():
    """Closes all descriptors except the standard streams and the channel, and sets line buffering for logs."""
    os.closerange(protocol.CHANNEL_FD + 1, 1024)
    os.set_inheritable(protocol.CHANNEL_FD, False)
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")


def serve(init):
    """`init` is the host's first frame."""
    if init["task"] == "inspect":
        from . import inspector

        return answer(lambda: inspector.inspect_all(protocol.receive()["params"]["files"]))
    if init["task"] == "script":
        from . import script

        return script.serve(init)
    from . import lockdown

    lockdown.share_one_arena()
    lockdown.install_filter(bytes.fromhex(init["lockdown"]))
    return Prepared(init).serve(init)


class Prepared:
    """A cell up to where one call differs from another. A zygote makes it once for all its forks."""

    def __init__(self, init):
        self._port = init["proxy_port"]
        self._has_skills = init.get("skills")
        self._watch = denials.Watch(init["view"], denials.Reporter(), self._port)
        self._loader = _Loader(init)
        if not self._port:
            from . import no_network

            no_network.install()

    def serve(self, init):
        """`init` has the rest: what differs."""
        if init["env"]:
            os.environ.update(init["env"])
        if self._port:
            from . import native_network

            native_network.install(self._port)
        self._watch.install()
        if self._has_skills:
            from . import native_calls, skills

            skills.install(native_calls)
        if init["preload"]:
            self._loader.run()
            protocol.send({"t": "loaded"})
        params = protocol.receive()["params"]
        return answer(lambda: self._loader.skill()(params))


class _Loader:
    """Runs the module body once; a failure is stored and raised in the call."""

    def __init__(self, init):
        self._path = "/skill/" + init["entry"]
        self._manifest = init["manifest"]
        self._code = None
        self._skill = None
        self._error = None

    def compile(self):
        """Compiles ahead for speed, if many calls run the module body. `run` reports errors in the source."""
        try:
            self._code = loading.compile_module(self._path)
        except Exception:
            pass

    def run(self):
        if self._skill is not None or self._error is not None:
            return
        try:
            module = loading.run_module(self._path, self._code)
            self._skill = loading.find_callable(module, self._manifest)
        except BaseException as error:
            self._error = error

    def skill(self):
        self.run()
        if self._error is not None:
            raise self._error
        return self._skill


def answer(work):
    """Runs `work` and sends its result or its error as the only reply."""
    try:
        value = results.to_json(work())
    except results.NotJson as error:
        reply({"t": "error", "type": "NotJson", "message": str(error), "trace": "", "explained": "wholly"})
    except SystemExit as error:
        message = "the skill called exit(%r)" % (error.code,)
        explained = denials.explained(error)
        reply({"t": "error", "type": "SystemExit", "message": message, "trace": "", "explained": explained})
    except BaseException as error:
        reply(describe(error))
    else:
        reply_with(value)


def reply_with(value):
    """Sends the result. Encoding the frame needs memory again, which may exceed the limit."""
    try:
        reply({"t": "result"}, value)
    except MemoryError as error:
        value = None
        reply(describe(error))


def reply(frame, value=None):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    protocol.send(frame, value)


def describe(error):
    error = _call_behind(error)
    frame = {"t": "error", "type": type(error).__name__, "message": _text(error), "trace": _trace(error)}
    denied = denials.denial_behind(error)
    if denied is not None:
        frame["denied"] = denied
    else:
        frame["explained"] = denials.explained(error)
    limit = limit_behind(error)
    if limit is not None:
        frame["limit"] = limit
    return frame


def _call_behind(error):
    """A task group raises a group. If nothing but calls of skills failed in it, the first of them stands for all."""
    if type(error).__name__ not in ("ExceptionGroup", "BaseExceptionGroup"):
        return error
    try:
        calls, others = error.split(lambda one: type(one).__name__ == "SkillCallError")
        while others is None and hasattr(calls, "exceptions"):
            calls = calls.exceptions[0]
        return error if others is not None else calls
    except Exception:
        return error


def limit_behind(error):
    """Returns the limit that a system error stands for, if any."""
    if isinstance(error, MemoryError) or _errno(error) == errno.ENOMEM:
        return "memory"
    if _errno(error) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "scratch"
    if isinstance(error, BlockingIOError) and _errno(error) == errno.EAGAIN:
        return "processes"
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "memory" if _lacks_stack() else "processes"
    return None


def _lacks_stack():
    """Whether the memory limit has no room for the stack of one more thread, which then does not start either."""
    try:
        import resource
        import threading

        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        stack = threading.stack_size() or resource.getrlimit(resource.RLIMIT_STACK)[0]
        with open("/proc/self/status") as status:
            used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
        return limit != resource.RLIM_INFINITY and used + stack > limit
    except Exception:
        return False


def _errno(error):
    return error.errno if isinstance(error, OSError) else None


def _text(error):
    try:
        return str(error)[:2000]
    except Exception:
        return "(no message)"


def _trace(error):
    """The skill's part of the traceback, without the frames of the harness."""
    try:
        import traceback

        tail = error.__traceback__
        while tail is not None and not tail.tb_frame.f_code.co_filename.startswith("/skill/"):
            tail = tail.tb_next
        text = "".join(traceback.format_exception(type(error), error, tail))
        return text if len(text) <= _MAX_TRACE else text[:_MAX_TRACE] + "..."
    except Exception:
        return ""


def finish():
    """Waits for the host to kill the cell after the reply. Exiting first would race with it. Exit handlers never run."""
    try:
        while os.read(protocol.CHANNEL_FD, 4096):
            pass
    finally:
        os._exit(0)
