"""Calls of other skills, `skills.text.word_stats(text=...)`, and of functions of the host, `functions.now()`.

A call waits for its result and returns it. Where an event loop runs, it is started and returned as a coroutine instead:
awaiting it, also with `asyncio.gather` and in task groups, runs several at once. Code that forgets to await may use it
as if it were its result.
"""

import builtins
import sys

from . import minijson, results

# Saved, because a skill may replace them.
_dumps, _loads = results.to_json, minijson.loads


class SkillCallError(Exception):
    """A call was refused or failed."""

    def __init__(self, code, message, fix):
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix


class _Way:
    """How requests reach the host: a module with `ask` and `Calls`, another one in each engine."""

    calls = None


def install(calls):
    _Way.calls = calls
    builtins.skills = _Skills()
    builtins.functions = _Functions()
    builtins.SkillCallError = SkillCallError


class _Names:
    """Any name may exist; only the host knows which may be called."""

    __slots__ = ()

    def __getattr__(self, name):
        # Libraries look for special methods on any object.
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


class _Skills(_Names):
    __slots__ = ()

    def __getitem__(self, name):
        return _Function(name) if "/" in name else _Category(name)

    def __repr__(self):
        return "<skills>"


class _Category(_Names):
    __slots__ = ("_category",)

    def __init__(self, category):
        self._category = category

    def __getitem__(self, name):
        return _Function("%s/%s" % (self._category, name))

    def __call__(self, params=None, /, **named):
        # An Agent Skills folder: those have a name without a category.
        return _Function("skills/%s" % self._category)(params, **named)

    def __repr__(self):
        return "<skills of %s>" % self._category


class _Functions(_Names):
    __slots__ = ()

    def __getitem__(self, name):
        return _Function(name)

    def __repr__(self):
        return "<functions of the host>"


class _Function:
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __call__(self, params=None, /, **named):
        if params is None:
            params = named
        elif named:
            params = {**params, **named}
        payload = _dumps(_values_in(params)).encode("utf-8", "backslashreplace")
        loop = _running_loop()
        if loop is not None:
            return _Call(calls_of(loop).start(self._name, payload))
        return _result(*request("skill.call", {"name": self._name}, payload))

    def __repr__(self):
        return "<skill %s>" % self._name


class _Call:
    """A call that was started. A coroutine to whoever awaits it, and its result to whoever does not."""

    __slots__ = ("_future", "_steps")

    def __init__(self, future):
        self._future = future
        self._steps = None

    def __await__(self):
        return self._future.__await__()

    # The methods of a coroutine: tasks accept nothing else.

    def send(self, value):
        return self._own_steps().send(value)

    def throw(self, *error):
        return self._own_steps().throw(*error)

    def close(self):
        if self._steps is not None:
            self._steps.close()

    def _own_steps(self):
        if self._steps is None:
            self._steps = self._future.__await__()
        return self._steps

    def _value(self):
        if not self._future.done():
            calls_of(self._future.get_loop()).finish(self._future)
        return self._future.result()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._value(), name)

    def __getitem__(self, key):
        return self._value()[key]

    def __iter__(self):
        return iter(self._value())

    def __len__(self):
        return len(self._value())

    def __contains__(self, item):
        return item in self._value()

    def __bool__(self):
        return bool(self._value())

    def __eq__(self, other):
        return self._value() == _values_in(other)

    # Collections of calls, as asyncio keeps them, are about the calls.
    __hash__ = object.__hash__

    def __str__(self):
        return str(self._value())

    def __repr__(self):
        return repr(self._value()) if self._future.done() else "<call without await>"


def calls_of(loop):
    calls = getattr(loop, "_skillcell_calls", None)
    if calls is None:
        calls = loop._skillcell_calls = _Way.calls.Calls(loop, sys.modules[__name__])
    return calls


def settle(future, answer, payload):
    """What the host answered, to whoever awaits it."""
    if future.done():
        return
    try:
        future.set_result(_result(_value_of(answer), payload))
    except SkillCallError as error:
        future.set_exception(error)


def _running_loop():
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()


def request(op, args, payload=b""):
    answer, data = _Way.calls.ask(op, args, payload)
    return _value_of(answer), data


def _value_of(answer):
    if "code" in answer:
        raise SkillCallError("usage", "The host refused the request (%s)" % answer["code"], "Correct the call.")
    return answer["value"]


def _result(value, payload):
    if value["ok"]:
        return _loads(payload)
    raise SkillCallError(value["code"], value["message"], value["fix"])


def _values_in(value):
    """Calls that were not awaited, replaced by their results."""
    if type(value) is _Call:
        return value._value()
    if isinstance(value, dict):
        return {key: _values_in(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_values_in(item) for item in value]
    return value
