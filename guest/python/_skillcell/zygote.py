"""A warm process that forks cells: it has loaded the interpreter and common modules, but never loads skill code.

It keeps the capability to create namespaces inside its own user namespace for one purpose: each
connection gets a child with new pid, mount, ipc and net namespaces, which drops all capabilities
and installs its filter before it touches the skill. All that is the same for every child is done
once in the zygote: most of the filter, the bounding set, and the imports.
"""

import ctypes
import fcntl
import gc
import importlib
import os
import random
import resource
import select
import signal
import socket
import struct
import sys

from . import cell, lockdown, protocol

_NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, ipc, pid, net
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

# Preloaded if the skill imports them: library modules without effects on import.
_COMMON = (
    "asyncio base64 bisect collections copy csv dataclasses datetime decimal difflib enum fractions functools "
    "hashlib heapq hmac html io itertools json logging math operator os pathlib random re secrets statistics "
    "string struct tempfile textwrap threading time traceback typing unicodedata urllib.parse uuid"
).split()

_libc = ctypes.CDLL(None, use_errno=True)
_clone_number = _CLONE_NUMBER[os.uname().machine]
# Bound here, because the first use of each function costs every child some page faults.
_clone, _capset, _mount_call = _libc.syscall, _libc.capset, _libc.mount


def main():
    cell.prepare_streams()
    protocol.send({"t": "ready"})
    init = protocol.receive()
    _load_common(init["modules"], init["siblings"])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    listener.bind(_SOCKET)
    listener.listen(128)
    _confine_self(init)
    fork_filter = lockdown.Filter(bytes.fromhex(init["fork_filter"]))
    gc.collect()
    gc.freeze()
    protocol.send({"t": "listening"})
    _Zygote(listener, init, fork_filter).serve()


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
    def __init__(self, listener, init, fork_filter):
        self._listener = listener
        self._init = init
        self._filter = fork_filter
        self._waiting = {}
        self._children = {}
        self._wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self):
        while True:
            readable, _, _ = select.select([self._listener, protocol.CHANNEL_FD, self._wake_read], [], [])
            if self._wake_read in readable:
                os.read(self._wake_read, 4096)
            self._reap()
            if protocol.CHANNEL_FD in readable:
                self._handle(protocol.receive())
            if self._listener in readable:
                self._accept()

    def _handle(self, frame):
        """The only command is to kill a child. The child has not been reaped, so its pid cannot have been reused."""
        for pid, name in self._children.items():
            if name == frame["id"]:
                os.kill(pid, signal.SIGKILL)

    def _accept(self):
        connection, _ = self._listener.accept()
        connection.settimeout(2)
        try:
            hello = connection.recv(_HELLO_BYTES, socket.MSG_WAITALL)
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
        pid = _clone(_clone_number, _NEW_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            _become_cell(name, (control.fileno(), log.fileno()), self._init, self._filter)
        control.close()
        log.close()
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
            name = self._children.pop(pid, None)
            if name is None:
                # An orphaned grandchild.
                continue
            signal_number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
            protocol.send({"t": "exit", "id": name, "code": code, "signal": signal_number})


def _become_cell(name, streams, init, fork_filter):
    """Runs in the child. Any failure must end it, because a partly confined cell must not run."""
    try:
        # The pid in the zygote's namespace, read before /proc is remounted for this one.
        outer_pid = int(os.readlink("/proc/self"))
        # A new session, because process groups span pid namespaces and kill(0) would hit the zygote.
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.pythonapi.PyOS_AfterFork_Child()
        _take_streams(*streams)
        _prefer_as_oom_victim()
        _mount_gateway(name)
        _mount_fresh(init)
        _limit(init["limits"])
        _drop_capabilities()
        fork_filter.install()
        random.seed()
        protocol.send({"t": "ready", "pid": outer_pid})
        cell.serve(protocol.receive(), is_locked=True)
    except protocol.Closed:
        pass
    except BaseException as error:
        os.write(2, ("skillcell zygote: %r\n" % error).encode())
        os._exit(70)
    cell.finish()


def _prefer_as_oom_victim():
    """If memory runs out early, the zygote may still be in the same cgroup, and must survive for other calls."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


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
    _mount(own, "/run/gateway", _MS_BIND, "")
    # Read-only, because without a root host the folder belongs to the cell's own user.
    _mount(own, "/run/gateway", _MS_BIND | _MS_REMOUNT | _MS_NOSUID | _MS_NODEV | _MS_RDONLY, "")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _mount_fresh(init):
    scratch = "size=%d,nr_inodes=%d,mode=1777" % (init["limits"]["scratch"], 65536)
    _mount("tmpfs", _RUN, _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_RDONLY, "size=4096")
    _mount("tmpfs", "/tmp", _MS_NOSUID | _MS_NODEV, scratch)
    _mount("tmpfs", "/dev/shm", _MS_NOSUID | _MS_NODEV, "size=8388608,nr_inodes=4096,mode=1777")
    # A new instance, so that calls do not share terminals.
    _mount("devpts", "/dev/pts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, "")
    for path in init["masked"]:
        _mount("/dev/null", path, _MS_BIND, "")
        _mount("/dev/null", path, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NODEV | _MS_NOSUID | _MS_NOEXEC, "")


def _mount(kind, place, flags, options):
    """`kind` is the file system type, or the path to bind."""
    if _mount_call(kind.encode(), place.encode(), kind.encode(), flags, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount %s" % place)


def _limit(limits):
    cpu = max(1, -(-limits["cpu"] // 1000))
    resource.setrlimit(resource.RLIMIT_DATA, (limits["memory"],) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_size"],) * 2)
    # Not 0, because with 0 the kernel still pipes core dumps to a core_pattern program.
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))


def _drop_capabilities():
    if _capset(_CAPABILITY_HEADER, _NO_CAPABILITIES) != 0:
        raise OSError(ctypes.get_errno(), "capset")
