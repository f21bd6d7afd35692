"""How calls of skills reach the host from WebAssembly: one request at a time, which blocks.

An event loop in a cell has nothing else to wait for, so that it waits for calls instead.
"""

import time

from . import protocol

# Calls that the host runs at once for this one. Further ones wait here.
MOST_AT_ONCE = 64
# How often a loop that always has work of its own looks for results, in seconds.
POLL = 0.001

# Saved, because a skill may replace it.
_clock = time.monotonic

ask = protocol.ask


class Calls:
    """The calls of one event loop, and how the loop waits for them. `skills` is the module that makes them."""

    def __init__(self, loop, skills):
        self._loop = loop
        self._skills = skills
        self._running = {}
        self._queued = []
        self._polled = 0.0
        selector = loop._selector
        self._select = selector.select
        selector.select = self.select

    def start(self, name, payload):
        future = self._loop.create_future()
        future.add_done_callback(self._forget)
        if len(self._running) >= MOST_AT_ONCE:
            self._queued.append((future, name, payload))
        else:
            self._start(future, name, payload)
        return future

    def finish(self, future):
        """Waits for one call while its loop stands still."""
        while not future.done():
            self.receive(None)

    def select(self, timeout=None):
        """Instead of the selector: waits for results, and at most as long as the loop wants to."""
        if not self._running:
            return self._select(timeout)
        if timeout is None or timeout > 0:
            self.receive(timeout)
        elif _clock() - self._polled > POLL:
            self.receive(0)
        return []

    def receive(self, timeout):
        """Takes one result, or none if there is none in time."""
        wait = {} if timeout is None else {"timeout_ms": -int(-timeout * 1000 // 1)}
        value, payload = self._skills.request("skill.wait", wait)
        self._polled = _clock()
        future = self._running.pop(value.get("call"), None)
        if future is None:
            return
        self._skills.settle(future, {"value": value}, payload)
        self._start_queued()

    def _start(self, future, name, payload):
        value, _ = self._skills.request("skill.start", {"name": name}, payload)
        if "call" in value:
            self._running[value["call"]] = future
        else:
            self._skills.settle(future, {"value": value}, b"")

    def _start_queued(self):
        while self._queued and len(self._running) < MOST_AT_ONCE:
            call = self._queued.pop(0)
            if not call[0].done():
                self._start(*call)

    def _forget(self, future):
        if not future.cancelled():
            return
        for call, known in self._running.items():
            if known is future:
                self._skills.request("skill.cancel", {"call": call})
