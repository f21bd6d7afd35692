"""A warm process that forks cells: it has loaded the interpreter and common modules, but never loads skill code.

It keeps the capability to create namespaces inside its own user namespace for one purpose: each
connection gets a child with new pid, mount and ipc namespaces, and a network namespace without sockets, which drops all
capabilities and installs its filter before it touches the skill. All that is the same for every child is done
once in the zygote: most of the filter, the bounding set, and the imports.
"""

import _signal
import _socket
import ctypes
import gc
import importlib
import os
import resource
import select
import sys

from . import cell, lockdown, protocol

_NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x20000000  # mount, ipc, pid
_NEW_NETWORK = 0x40000000
_CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_RDONLY = 2, 4, 8, 1
_MS_BIND, _MS_REMOUNT = 4096, 32
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_PR_CAPBSET_DROP = 24
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
_RUN = "/run/zygote"
_SOCKET = _RUN + "/socket"
_HELLO_BYTES = 17
_CONTROL, _LOG = b"c", b"l"
# More than the calls that usually run at once. Each is an open descriptor, and few may be open.
_MAX_NETWORKS = 32

# Preloaded if the skill imports them: library modules without effects on import.
_COMMON = (
    "asyncio base64 bisect collections contextlib copy csv dataclasses datetime decimal difflib enum fractions functools "
    "hashlib heapq hmac html io itertools json logging math operator os pathlib random re secrets selectors signal socket "
    "statistics string struct tempfile textwrap threading time traceback typing unicodedata urllib.parse uuid"
).split()

_libc = ctypes.CDLL(None, use_errno=True)
_clone_number = _CLONE_NUMBER[os.uname().machine]
# Bound here, because the first use of each function costs every child some page faults. For the same reason nothing is
# imported that a fork does not need: what it shares with the zygote is copied when it is touched.
_clone, _setns, _unshare = _libc.syscall, _libc.setns, _libc.unshare
_capset, _mount_call, _ioctl = _libc.capset, _libc.mount, _libc.ioctl
_after_fork = ctypes.pythonapi.PyOS_AfterFork_Child
_READY = protocol.encoded({"t": "ready"})


def main():
    cell.prepare_streams()
    protocol.send({"t": "ready"})
    init = protocol.receive()
    _load_common(init["modules"], init["siblings"])
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    listener.bind(_SOCKET)
    listener.listen(128)
    _confine_self(init)
    fork_filter = lockdown.Filter(bytes.fromhex(init["fork_filter"]))
    prepared = cell.Prepared(init["cell"])
    mounts = _fresh_mounts(init)
    gc.collect()
    gc.freeze()
    protocol.send({"t": "listening"})
    _Zygote(listener, init, _Steps(init, mounts, fork_filter, prepared)).serve()


class _Steps:
    """What is the same for every fork, made once."""

    def __init__(self, init, mounts, fork_filter, prepared):
        self.has_gateway = init["gateway"]
        self.limits = _limits_of(init["limits"])
        self.mounts = mounts
        self.filter = fork_filter
        self.prepared = prepared


def _confine_self(init):
    """What a fork inherits. The bounding set gives nothing to a process that never starts a program."""
    lockdown.share_one_arena()
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    lockdown.install_filter(bytes.fromhex(init["filter"]))
    # Imported for the children.
    importlib.import_module("_skillcell.native_network" if init["gateway"] else "_skillcell.no_network")


def _load_common(wanted, siblings):
    """Skips modules that a file of the bundle shadows, because its cells must import that file instead."""
    before = set(sys.modules)
    for name in _COMMON:
        if name in wanted:
            importlib.import_module(name)
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in siblings:
            del sys.modules[name]


class _Zygote:
    def __init__(self, listener, init, steps):
        self._listener = listener
        self._steps = steps
        self._waiting = {}
        self._children = {}
        self._networks = _Networks(is_kept=not init["gateway"])
        self._wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        _signal.set_wakeup_fd(wake_write)
        _signal.signal(_signal.SIGCHLD, _ignore)

    def serve(self):
        poll = select.poll()
        listening = self._listener.fileno()
        for descriptor in (listening, protocol.CHANNEL_FD, self._wake_read):
            poll.register(descriptor, select.POLLIN)
        while True:
            readable = [descriptor for descriptor, _ in poll.poll()]
            if self._wake_read in readable:
                os.read(self._wake_read, 4096)
                self._reap()
            if protocol.CHANNEL_FD in readable:
                self._handle(protocol.receive())
            if listening in readable:
                self._accept()

    def _handle(self, frame):
        """The only command is to kill a child. The child has not been reaped, so its pid cannot have been reused."""
        for pid, name in self._children.items():
            if name == frame["id"]:
                os.kill(pid, _signal.SIGKILL)

    def _accept(self):
        descriptor, _ = self._listener._accept()
        connection = _socket.socket(fileno=descriptor)
        connection.settimeout(2)
        try:
            hello = connection.recv(_HELLO_BYTES, _socket.MSG_WAITALL)
        except OSError:
            hello = b""
        if len(hello) != _HELLO_BYTES:
            return connection.close()
        connection.settimeout(None)
        role, name = hello[:1], hello[1:].hex()
        pair = self._waiting.setdefault(name, {})
        pair[role] = connection
        if len(pair) == 2:
            del self._waiting[name]
            self._fork(name, pair[_CONTROL], pair[_LOG])

    def _fork(self, name, control, log):
        network = self._networks.take()
        flags = _NEW_NAMESPACES if network is not None else _NEW_NAMESPACES | _NEW_NETWORK
        pid = _clone(_clone_number, flags | _signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            _become_cell(name, (control.fileno(), log.fileno()), network, self._steps)
        control.close()
        log.close()
        self._networks.lend(network, pid)
        if pid < 0:
            protocol.send({"t": "exit", "id": name, "code": 71, "signal": 0})
        else:
            self._children[pid] = name
            protocol.send({"t": "forked", "id": name, "pid": pid})

    def _reap(self):
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._networks.put_back(pid)
            name = self._children.pop(pid, None)
            if name is None:
                # An orphaned grandchild.
                continue
            signal_number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
            protocol.send({"t": "exit", "id": name, "code": code, "signal": signal_number})


def _ignore(*_):
    """Only its wake-up counts."""


class _Networks:
    """Empty network namespaces of forks that have ended, for later forks: making and removing one costs as much as a fork.

    Only for forks that can create no socket but pairs. Two forks are never in one at the same time.
    """

    def __init__(self, is_kept):
        self._is_kept = is_kept
        # The one that has been free for longest is first.
        self._free = []
        self._used = {}

    def take(self):
        return self._free.pop(0) if self._free else None

    def lend(self, network, pid):
        """Notes who is in it. `network` is None if the fork has made its own, and `pid` is negative if there is no fork."""
        if pid < 0:
            return self._keep(network)
        if network is None and self._is_kept and len(self._free) + len(self._used) < _MAX_NETWORKS:
            try:
                network = os.open("/proc/%d/ns/net" % pid, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                # It has ended already.
                return
        if network is not None:
            self._used[pid] = network

    def put_back(self, pid):
        """Every process in it has ended, because the fork was the first of its pid namespace."""
        self._keep(self._used.pop(pid, None))

    def _keep(self, network):
        if network is not None:
            self._free.append(network)


def _enter_network(network):
    """Enters a namespace that an earlier fork has left, if it is as empty as a new one."""
    if network is None:
        return
    if _setns(network, _NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    # Sockets that were on their way through another are removed a moment after their process.
    if not _has_no_socket() and _unshare(_NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _has_no_socket():
    """Only the heading of the list of unix sockets, the only ones that a fork could make."""
    listed = os.open("/proc/self/net/unix", os.O_RDONLY)
    try:
        return os.read(listed, 4096).count(b"\n") == 1
    finally:
        os.close(listed)


def _become_cell(name, streams, network, steps):
    """Runs in the child. Any failure must end it, because a partly confined cell must not run."""
    try:
        # A new session, because process groups span pid namespaces and kill(0) would hit the zygote.
        os.setsid()
        _enter_network(network)
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        # The hook of the module `random` also makes its numbers differ from those of other forks.
        _after_fork()
        _take_streams(*streams)
        _prefer_as_oom_victim()
        if steps.has_gateway:
            _mount_gateway(name)
        _mount_fresh(steps.mounts)
        for kind, limit in steps.limits:
            resource.setrlimit(kind, limit)
        _drop_capabilities()
        steps.filter.install()
        os.write(protocol.CHANNEL_FD, _READY)
        steps.prepared.serve(protocol.receive())
    except protocol.Closed:
        pass
    except BaseException as error:
        os.write(2, ("skillcell zygote: %r\n" % error).encode())
        os._exit(70)
    cell.finish()


def _prefer_as_oom_victim():
    """If memory runs out early, the zygote may still be in the same cgroup, and must survive for other calls."""
    file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(file, b"1000")
    os.close(file)


def _take_streams(control, log):
    null = os.open("/dev/null", os.O_RDWR)
    # Duplicated first, because either may have one of the numbers used below.
    control, log = os.dup(control), os.dup(log)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(control, protocol.CHANNEL_FD)
    os.closerange(protocol.CHANNEL_FD + 1, 1024)
    os.set_inheritable(protocol.CHANNEL_FD, False)


def _mount_gateway(name):
    """Mounts the gateway folder named after this child, the only way out. Other children cannot see it."""
    own = "%s/%s" % (_RUN, name)
    if not os.path.isdir(own):
        return
    _mount(*_mount_arguments(own, "/run/gateway", _MS_BIND, ""))
    # Read-only, because without a root host the folder belongs to the cell's own user.
    _mount(*_mount_arguments(own, "/run/gateway", _MS_BIND | _MS_REMOUNT | _MS_NOSUID | _MS_NODEV | _MS_RDONLY, ""))
    loopback = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    # struct ifreq: the name in 16 bytes, the flags, and the rest of the union.
    request = b"lo".ljust(16, b"\0") + _IFF_UP.to_bytes(2, sys.byteorder) + bytes(14)
    if _ioctl(loopback.fileno(), _SIOCSIFFLAGS, request) != 0:
        raise OSError(ctypes.get_errno(), "ioctl")
    loopback.close()


def _fresh_mounts(init):
    """What each fork mounts, in this order, as arguments of mount."""
    scratch = "size=%d,nr_inodes=%d,mode=1777" % (init["limits"]["scratch"], 65536)
    mounts = [
        ("tmpfs", _RUN, _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_RDONLY, "size=4096"),
        ("tmpfs", "/tmp", _MS_NOSUID | _MS_NODEV, scratch),
        ("tmpfs", "/dev/shm", _MS_NOSUID | _MS_NODEV, "size=8388608,nr_inodes=4096,mode=1777"),
        # A new instance, so that calls do not share terminals.
        ("devpts", "/dev/pts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"),
        ("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, ""),
    ]
    # The first hides its file behind /dev/null with the right options, and the others copy it.
    for path in init["masked"][:1]:
        mounts.append(("/dev/null", path, _MS_BIND, ""))
        options = _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NODEV | _MS_NOSUID | _MS_NOEXEC
        mounts.append(("/dev/null", path, options, ""))
    for path in init["masked"][1:]:
        mounts.append((init["masked"][0], path, _MS_BIND, ""))
    return [_mount_arguments(*one) for one in mounts]


def _mount_arguments(kind, place, flags, options):
    """`kind` is the file system type, or the path to bind."""
    return kind.encode(), place.encode(), kind.encode(), flags, options.encode()


def _mount_fresh(mounts):
    for arguments in mounts:
        _mount(*arguments)


def _mount(*arguments):
    if _mount_call(*arguments) != 0:
        raise OSError(ctypes.get_errno(), "mount %s" % arguments[1].decode())


def _limits_of(limits):
    cpu = max(1, -(-limits["cpu"] // 1000))
    return (
        (resource.RLIMIT_DATA, (limits["memory"],) * 2),
        (resource.RLIMIT_CPU, (cpu, cpu)),
        (resource.RLIMIT_FSIZE, (limits["file_size"],) * 2),
        # Not 0, because with 0 the kernel still pipes core dumps to a core_pattern program.
        (resource.RLIMIT_CORE, (1, 1)),
    )


def _drop_capabilities():
    if _capset(_CAPABILITY_HEADER, _NO_CAPABILITIES) != 0:
        raise OSError(ctypes.get_errno(), "capset")
