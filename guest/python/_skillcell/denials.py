"""Explains denials that the kernel reports only as an errno.

An audit hook sees each act of the interpreter before it happens. Acts outside the grant are
reported to the host and raised as a descriptive error. This is a courtesy, not the wall: code
that bypasses the hook is stopped by the kernel.
"""

import errno
import os
import posixpath
import sys

from . import protocol

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MAX_REPORTS = 64
_MAX_USES = 4000

# Readable in every cell: the interpreter, its libraries, its own processes and devices.
_ALWAYS_READABLE = ("/usr", "/lib", "/lib64", "/bin", "/proc", "/dev", "/tmp", "/skill", "/deps", "/harness", "/bytecode", "/run/gateway")
_ALWAYS_WRITABLE = ("/tmp", "/dev", "/proc/self/fd")
# Libraries look here for the number of usable cores, so a denial would be noise.
_PROBED = ("/sys/fs/cgroup", "/sys/devices/system")
_GATEWAY = "/run/gateway/socket"
# Libraries bind to these addresses to find out whether IPv6 works, so a denial would be noise.
_PROBES = (("::1", 0), ("::", 0))


class CapabilityDenied(PermissionError, FileNotFoundError):
    """An undeclared act. Also a FileNotFoundError, because many programs handle missing files."""

    def __init__(self, report):
        self.report = report
        super().__init__(errno.EPERM, "Skillcell denied: %s (%s)" % (report["asked"], report["declared"]))


class NetworkDenied(PermissionError, ConnectionError):
    """An undeclared connection."""

    def __init__(self, report):
        self.report = report
        super().__init__(errno.EPERM, "Skillcell denied: %s (%s)" % (report["asked"], report["declared"]))


class EnvDenied(KeyError):
    """An undeclared environment variable."""

    def __init__(self, name, report):
        self.report = report
        super().__init__(name)


class Reporter:
    """Sends each distinct denial once; also each distinct use, if the host records what a skill needs."""

    def __init__(self):
        self._seen = set()
        self._used = set()
        self.observes = False

    def report(self, capability, asked, declared):
        frame = {"t": "denied", "capability": capability, "asked": asked, "declared": declared}
        key = (capability, asked)
        if key not in self._seen and len(self._seen) < _MAX_REPORTS:
            self._seen.add(key)
            protocol.send(frame)
        return {"capability": capability, "asked": asked, "declared": declared}

    def use(self, capability, asked):
        key = (capability, asked)
        if self.observes and key not in self._used and len(self._used) < _MAX_USES:
            self._used.add(key)
            protocol.send({"t": "used", "capability": capability, "asked": asked, "declared": "granted"})


class Guard:
    """The audit hook. `view` is the host's grant: readable and writable paths, processes, env names."""

    def __init__(self, view, reporter, proxy_port):
        self._proxy = ("127.0.0.1", proxy_port)
        self._readable = _ALWAYS_READABLE + tuple(view["read"]) + tuple(view["write"])
        self._writable = _ALWAYS_WRITABLE + tuple(view["write"])
        self._processes = view["processes"]
        self._reporter = reporter
        self._busy = False
        write, read = self._on_write, self._on_read

        def write_at(position):
            """`position` is the index of the event's dir_fd argument."""
            return lambda args: self._path(args[0], "write", args[position])

        self._handlers = {
            "open": self._on_open,
            "os.listdir": read,
            "os.scandir": read,
            "os.chdir": read,
            "os.mkdir": self._on_mkdir,
            "os.remove": write_at(1),
            "os.rmdir": write_at(1),
            "os.truncate": write,
            "os.chmod": write_at(2),
            "os.chown": write_at(3),
            "os.utime": write_at(3),
            "os.setxattr": write,
            "os.rename": self._on_write_both,
            "os.link": self._on_write_both,
            "os.symlink": lambda args: self._path(args[1], "write", args[2]),
            "socket.connect": lambda args: self._network("connect", args[1]),
            "socket.sendto": lambda args: self._network("send to", args[1]),
            "socket.bind": lambda args: self._network("listen on", args[1]),
            "socket.getaddrinfo": lambda args: self._network("resolve", args[0:2]),
            "socket.gethostbyname": lambda args: self._network("resolve", args[0:1]),
            "subprocess.Popen": lambda args: self._process(args[1]),
            "os.system": lambda args: self._process(args[0]),
            "os.exec": lambda args: self._process(args[1]),
            "os.posix_spawn": lambda args: self._process(args[1]),
            "os.fork": lambda args: self._process("fork"),
            "os.forkpty": lambda args: self._process("fork"),
        }
        if reporter.observes:
            self._handlers["import"] = lambda args: reporter.use("module", "import %s" % args[0].partition(".")[0])

    def __call__(self, event, args):
        handler = self._handlers.get(event)
        if handler is None or self._busy:
            return
        self._busy = True
        try:
            handler(args)
        finally:
            self._busy = False

    def _on_open(self, args):
        path, mode, flags = args
        wants_write = bool(flags & _WRITE_FLAGS) if isinstance(flags, int) else any(c in (mode or "r") for c in "wax+")
        self._path(path, "write" if wants_write else "read")

    def _on_read(self, args):
        self._path(args[0] if args and args[0] is not None else ".", "read")

    def _on_write(self, args):
        self._path(args[0], "write")

    def _on_write_both(self, args):
        self._path(args[0], "write", args[2])
        self._path(args[1], "write", args[3])

    def _on_mkdir(self, args):
        self._path(args[0], "write", args[2], is_new=True)

    def _path(self, path, access, start=-1, is_new=False):
        if isinstance(path, int):
            return
        text = os.fsdecode(path)
        if start >= 0 and not text.startswith("/"):
            # Relative to an open directory, whose path only the kernel knows for sure.
            return
        full = posixpath.normpath(text if text.startswith("/") else posixpath.join(os.getcwd(), text))
        allowed = self._writable if access == "write" else self._readable
        if full == "/" and access == "read" or _within(full, allowed):
            if not _within(full, _ALWAYS_READABLE):
                # Creating an existing folder changes nothing, so it only counts as a read.
                done = "read" if is_new and os.path.lexists(full) else access
                self._reporter.use("filesystem", "%s %s" % (done, _short(full)))
            return
        if access == "read" and _within(full, _PROBED) and not _asked_by_skill():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), full)
        if is_new:
            full = posixpath.normpath(posixpath.join(os.getcwd(), _wanted_folder(full)))
        declared = "readable only" if access == "write" and _within(full, self._readable) else "not granted"
        raise CapabilityDenied(self._reporter.report("filesystem", "%s %s" % (access, _short(full)), declared))

    def _network(self, verb, address):
        if isinstance(address, (str, bytes)):
            return self._unix_socket(verb, os.fsdecode(address))
        if verb == "connect" and tuple(address[:2]) == self._proxy:
            return None
        if verb == "listen on" and tuple(address[:2]) in _PROBES:
            raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        request = _request_behind()
        if request is not None:
            raise NetworkDenied(self._reporter.report("network", _short(request), "no network rule covers it"))
        asked = "%s %s" % (verb, _short(":".join(str(part) for part in address[:2] if part is not None)))
        raise NetworkDenied(self._reporter.report("network", asked, "no such host is granted"))

    def _unix_socket(self, verb, name):
        """Denied even for granted paths: a grant covers the file, not the process that listens on it."""
        if verb == "connect" and name == _GATEWAY:
            return
        if name.startswith("/"):
            self._path(name, "read")
        asked = "%s %s" % (verb, _short(name.replace("\0", "@", 1)))
        raise NetworkDenied(self._reporter.report("network", asked, "no cell has unix sockets"))

    def _process(self, what):
        words = what if isinstance(what, (list, tuple)) else [what]
        text = " ".join(os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in words)
        if self._processes:
            return self._reporter.use("process", "start %s" % _short(text))
        raise CapabilityDenied(self._reporter.report("process", "start %s" % _short(text), "limits.processes is not declared"))


class WatchedEnviron(type(os.environ)):
    """os.environ that reports undeclared names that the skill itself reads."""

    def __init__(self, original, declared, reporter):
        super().__init__(
            original._data, original.encodekey, original.decodekey, original.encodevalue, original.decodevalue
        )
        self._declared = frozenset(declared)
        self._reporter = reporter

    def __getitem__(self, key):
        try:
            value = super().__getitem__(key)
            if key in self._declared:
                self._reporter.use("env", "read %s" % _short(key))
            return value
        except KeyError:
            if key in self._declared or not _asked_by_skill():
                raise
            raise EnvDenied(key, self._reporter.report("env", "read %s" % _short(str(key)), "not in env_vars")) from None


def denial_behind(error):
    """Returns the report of the denial that caused this error, or None."""
    for cause in _causes(error):
        report = getattr(cause, "report", None)
        if isinstance(cause, (CapabilityDenied, NetworkDenied, EnvDenied)) and isinstance(report, dict):
            return report
    return None


def explained(error):
    """Says how far the causes of a failure without a known denial could be traced.

    "inside": it was caused by a system error, behind which the gateway or the kernel may have denied something.
    """
    return "inside" if any(isinstance(cause, OSError) for cause in _causes(error)) else "wholly"


def _causes(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


class Watch:
    """What reports denials and uses, ready to be installed."""

    def __init__(self, view, reporter, proxy_port=0):
        reporter.observes = view.get("observe", False)
        self._environ = WatchedEnviron(os.environ, view["env"], reporter)
        self._guard = Guard(view, reporter, proxy_port)

    def install(self):
        os.environ = self._environ
        sys.addaudithook(self._guard)


def install(view, reporter, proxy_port=0):
    Watch(view, reporter, proxy_port).install()


def _within(path, roots):
    return any(path == root or path.startswith(root + "/") for root in roots)


# Code of the bundle, and code that came with a call.
_SKILL_CODE = ("/skill/", "/workspace/", "<stdin>", "<string>")
# Library code that only passes the caller's request on.
_PASS_THROUGH = ("/os.py", "_collections_abc.py", "_collections_abc>", "<frozen os>", "/pathlib.py")


def _asked_by_skill():
    """Whether the nearest caller outside the standard library is the skill's own code."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_SKILL_CODE):
            return True
        if name not in (os.__file__, __file__) and not name.endswith(_PASS_THROUGH):
            return False
        frame = frame.f_back
    return False


def _wanted_folder(path):
    """The folder that os.makedirs or Path.mkdir was asked for, while it creates the folders above it."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        wanted = None
        if code is os.makedirs.__code__:
            wanted = frame.f_locals.get("name")
        elif code.co_name == "mkdir" and ("/pathlib" in code.co_filename or "pathlib" in code.co_filename[:16]):
            wanted = frame.f_locals.get("self")
        if wanted is not None:
            path = os.fsdecode(wanted)
        frame = frame.f_back
    return path


def _request_behind():
    """The request that http.client is about to make, as the gateway would describe it; None if it is not behind this."""
    client = sys.modules.get("http.client")
    frame, server = sys._getframe(2), None
    while client is not None and frame is not None:
        values = frame.f_locals
        this = values.get("self")
        if client.HTTPConnection in type(this).__mro__ and isinstance(this.host, str):
            is_tls = this.default_port == 443
            name = "[%s]" % this.host if ":" in this.host else this.host
            port = "" if this.port == this.default_port else ":%s" % this.port
            server = "%s://%s%s" % ("https" if is_tls else "http", name, port)
            if is_tls:
                return "CONNECT %s" % server
            method, url = values.get("method"), values.get("url")
            if isinstance(method, str) and isinstance(url, str) and url.startswith("/"):
                return "%s %s%s" % (method, server, url.partition("#")[0].partition("?")[0])
        frame = frame.f_back
    return None


def _short(text):
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= 200 else clean[:197] + "..."
