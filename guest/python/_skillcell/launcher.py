"""Starts a program of the system and ends as it ends.

If the cell may have processes, the harness stays beside the program: it forwards connections to the gateway, and it passes
the output on from pipes, because programs cannot open a socket as /dev/stdout.
"""

import errno
import os
import select
import signal

_CHUNK = 64 * 1024
_NOT_FOUND, _NOT_STARTED, _SIGNAL = 127, 126, 128
# The harness ignores these; a program expects their usual effect.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)


def run(path, args, init):
    """Never returns."""
    words = [os.path.basename(path), *args]
    try:
        if init["view"]["processes"]:
            os._exit(_beside(path, words, init["proxy_port"]))
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.execv(path, words)
    except OSError as error:
        os.write(2, ("%s: %s\n" % (path, os.strerror(error.errno))).encode())
        os._exit(_NOT_FOUND if error.errno == errno.ENOENT else _NOT_STARTED)


def _beside(path, words, proxy_port):
    if proxy_port:
        from . import forwarder

        forwarder.start(proxy_port)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Python's own handler would end the harness instead of the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipes = {}
    actions = []
    for target in (1, 2):
        read, write = os.pipe()
        pipes[read] = target
        actions.append((os.POSIX_SPAWN_DUP2, write, target))
    pid = os.posix_spawn(path, words, os.environ, file_actions=actions, setpgroup=0, setsigdef=_IGNORED)
    for _, write, _ in actions:
        os.close(write)
    return _attend(pid, pipes, wake)


def _attend(pid, pipes, wake):
    poll = select.poll()
    for number in (*pipes, wake):
        poll.register(number, select.POLLIN)
    status = None
    while status is None:
        for number, _ in poll.poll():
            if number == wake:
                os.read(wake, _CHUNK)
                status = _reap(pid)
            elif not _pass_on(number, pipes[number]):
                poll.unregister(number)
    for number, target in pipes.items():
        os.set_blocking(number, False)
        while _pass_on(number, target):
            pass
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    if os.WTERMSIG(status) == signal.SIGXFSZ:
        _report_limit("scratch")
    return _SIGNAL + os.WTERMSIG(status)


def _report_limit(limit):
    """Only the harness sees that a signal ended the program; to the host it is an exit code like any other."""
    from . import cell

    cell.reply({"t": "error", "type": "Limit", "message": "", "trace": "", "limit": limit})
    cell.finish()


def _reap(pid):
    """Collects every process that ended, as the first process of a cell has to. Returns the status of this one."""
    found = None
    try:
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                return found
            if ended == pid:
                found = status
    except ChildProcessError:
        return found


def _pass_on(source, target):
    """Returns false if there is nothing to pass on now, or nothing any more."""
    try:
        data = memoryview(os.read(source, _CHUNK))
    except BlockingIOError:
        return False
    if not data:
        return False
    while data:
        data = data[os.write(target, data) :]
    return True
