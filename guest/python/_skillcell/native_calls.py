"""How calls of skills reach the host from a process: numbered requests over the channel of the cell.

Threads may ask at the same time. Event loops wait for the channel beside everything else that they wait for.
"""

import _thread
import os

from . import protocol

# Calls of event loops that the host runs at once for this one. Further ones wait here.
MOST_AT_ONCE = 64

# Saved, because a skill may replace them.
_getpid, _ident, _lock_of = os.getpid, _thread.get_ident, _thread.allocate_lock
_own_pid = _getpid()
# One thread at a time reads frames, also for the others.
_reading = _lock_of()


class _Answer:
    """What a thread waits for."""

    __slots__ = ("frame", "payload", "then")

    def __init__(self, then=None):
        self.frame = None
        self.payload = b""
        self.then = then


class _Requests:
    """Requests without an answer, by their number."""

    lock = _lock_of()
    open = {}
    last = 0


def ask(op, args, payload=b""):
    """Waits for the answer of the host, which also carries what follows as raw bytes."""
    answer = _Answer()
    _send(op, args, payload, answer)
    while answer.frame is None:
        _receive(lambda: answer.frame is None)
    return answer.frame, answer.payload


def _send(op, args, payload, answer):
    # A forked child shares the channel, and would take the answers of others.
    if _getpid() != _own_pid:
        raise RuntimeError("only the process of the skill itself can call skills")
    with _Requests.lock:
        _Requests.last += 1
        number = _Requests.last
        _Requests.open[number] = answer
    protocol.ask(number, op, args, payload)


def _receive(is_wanted):
    """Takes one frame, unless another thread has taken the wanted one meanwhile."""
    with _reading:
        if is_wanted():
            _take()


def _take():
    frame, payload = protocol.receive_answer()
    with _Requests.lock:
        answer = _Requests.open.pop(frame["id"], None)
    if answer is None:
        return
    answer.payload = payload
    answer.frame = frame
    if answer.then is not None:
        answer.then(frame, payload)


class _Started:
    """A call of an event loop."""

    __slots__ = ("calls", "future", "thread", "name", "payload", "number", "answer")

    def __init__(self, calls, future, name, payload):
        self.calls = calls
        self.future = future
        self.thread = _ident()
        self.name = name
        self.payload = payload
        # Of the host; set when it has answered.
        self.number = None
        self.answer = None

    def send(self):
        _send("skill.start", {"name": self.name}, self.payload, _Answer(self._on_number))
        self.payload = b""

    def _on_number(self, frame, _):
        value = frame.get("value", {})
        if "call" not in value:
            _Table.end(self, frame, b"")
            return
        self.number = value["call"]
        _Table.add(self)
        if self.future.cancelled():
            self.cancel()

    def cancel(self):
        if self.number is not None:
            _send("skill.cancel", {"call": self.number}, b"", _Answer())

    def arrive(self, frame, payload):
        """Settles the future in its own loop. While that stands still for this call, `finish` does."""
        self.answer = (frame, payload)
        if _ident() == self.thread:
            self.calls.settle(self)
            return
        try:
            self.calls.loop.call_soon_threadsafe(self.calls.settle, self)
        except RuntimeError:
            # The loop is closed, so nobody waits.
            pass


class _Table:
    """The calls of all event loops of this process. One request waits for whichever ends next."""

    lock = _lock_of()
    running = {}
    queued = []
    begun = 0
    waits = False

    @classmethod
    def begin(cls, started):
        with cls.lock:
            if cls.begun >= MOST_AT_ONCE:
                cls.queued.append(started)
                return
            cls.begun += 1
        started.send()

    @classmethod
    def add(cls, started):
        with cls.lock:
            cls.running[started.number] = started
        cls._wait()

    @classmethod
    def _wait(cls):
        with cls.lock:
            if cls.waits or not cls.running:
                return
            cls.waits = True
        _send("skill.wait", {}, b"", _Answer(cls._on_end))

    @classmethod
    def _on_end(cls, frame, payload):
        with cls.lock:
            cls.waits = False
            ended = [cls.running.pop(frame.get("value", {}).get("call"), None)]
            if "code" in frame:
                # The host knows none of them any more.
                ended = list(cls.running.values())
                cls.running.clear()
        for started in ended:
            if started is not None:
                cls.end(started, frame, payload)
        cls._wait()

    @classmethod
    def end(cls, started, frame, payload):
        started.arrive(frame, payload)
        with cls.lock:
            cls.begun -= 1
            while cls.queued and cls.queued[0].future.done():
                del cls.queued[0]
            following = cls.queued.pop(0) if cls.queued else None
            cls.begun += following is not None
        if following is not None:
            following.send()


class Calls:
    """The calls of one event loop. `skills` is the module that makes them."""

    def __init__(self, loop, skills):
        self.loop = loop
        self._skills = skills
        # By future.
        self._open = {}

    def start(self, name, payload):
        future = self.loop.create_future()
        started = _Started(self, future, name, payload)
        if not self._open:
            self.loop.add_reader(protocol.CHANNEL_FD, self._on_readable)
        self._open[future] = started
        future.add_done_callback(self._on_done)
        _Table.begin(started)
        return future

    def finish(self, future):
        """Waits for one call while its loop stands still."""
        started = self._open.get(future)
        if started is None:
            return
        while started.answer is None:
            _receive(lambda: started.answer is None)
        self.settle(started)

    def settle(self, started):
        frame, payload = started.answer
        self._skills.settle(started.future, frame, payload)

    def _on_done(self, future):
        started = self._open.pop(future)
        if not self._open:
            self.loop.remove_reader(protocol.CHANNEL_FD)
        if future.cancelled():
            started.cancel()

    def _on_readable(self):
        # Another thread that reads takes this frame too.
        if not _reading.acquire(False):
            return
        try:
            while protocol.has_answer():
                _take()
        except protocol.Closed:
            os._exit(0)
        finally:
            _reading.release()
