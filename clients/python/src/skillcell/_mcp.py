"""The kept process: ``skillcell mcp`` on standard input and output. It ends when its input does, so it never outlives us."""

from __future__ import annotations

import json
import subprocess
import threading
from concurrent.futures import Future
from typing import Any, Dict, List, Mapping, Optional

from ._errors import SkillcellConnectionError, SkillError, known_code
from ._types import Json, Outcome
from ._version import VERSION

_PROTOCOL = "2025-11-25"
_CLOSE_SECONDS = 10.0


class McpProcess:
    """Requests may come from any thread; answers come in any order."""

    def __init__(self, command: List[str], *, cwd: str, env: Optional[Mapping[str, str]]) -> None:
        self._lock = threading.Lock()
        self._next_id = 0
        self._waiting: Dict[int, Future[Json]] = {}
        self._ended: Optional[str] = None
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env) if env is not None else None,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Notes for people; ours sees what the program's own stderr shows.
                stderr=None,
            )
        except OSError as error:
            raise SkillcellConnectionError(f"{command[0]!r} could not be started: {error}") from error
        self._reader = threading.Thread(target=self._read, name="skillcell-reader", daemon=True)
        self._reader.start()
        self._handshake()

    @property
    def pid(self) -> int:
        return self._process.pid

    def call_tool(self, tool: str, params: Mapping[str, Any]) -> Pending:
        request_id, answer = self._request("tools/call", {"name": tool, "arguments": dict(params)})
        return Pending(self, request_id, answer)

    def list_tools(self) -> List[Json]:
        _, answer = self._request("tools/list", {})
        return list(answer.result()["tools"])

    def cancel(self, request_id: int) -> None:
        """The server kills the cell and sends no answer."""
        self._notify("notifications/cancelled", {"requestId": request_id, "reason": "given up by the program"})
        with self._lock:
            answer = self._waiting.pop(request_id, None)
        if answer is not None:
            answer.set_exception(SkillError("cancelled", "The call was given up by this program"))

    def close(self) -> None:
        """Ends the process; calls that still run are cancelled, each with a receipt."""
        stdin = self._process.stdin
        if stdin is not None:
            try:
                stdin.close()
            except OSError:
                pass  # The process is gone already.
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_CLOSE_SECONDS)

    def _handshake(self) -> None:
        info = {"name": "skillcell-python", "version": VERSION}
        given = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": info}
        _, answer = self._request("initialize", given)
        answer.result()
        self._notify("notifications/initialized", {})

    def _request(self, method: str, params: Json) -> "tuple[int, Future[Json]]":
        answer: Future[Json] = Future()
        with self._lock:
            if self._ended is not None:
                raise SkillcellConnectionError(self._ended)
            self._next_id += 1
            request_id = self._next_id
            self._waiting[request_id] = answer
        self._write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id, answer

    def _notify(self, method: str, params: Json) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: Json) -> None:
        line = json.dumps(message, allow_nan=False).encode("utf-8") + b"\n"
        stdin = self._process.stdin
        assert stdin is not None
        try:
            with self._lock:
                stdin.write(line)
                stdin.flush()
        except (OSError, ValueError) as error:
            raise SkillcellConnectionError(f"The local runtime has ended: {error}") from error

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with stdout:
            for line in stdout:
                self._take(line)
        self._fail(f"The local runtime ended with code {self._process.wait()}")

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict) or "method" in message:
            return
        with self._lock:
            answer = self._waiting.pop(message.get("id", -1), None)
        if answer is None:
            return
        error = message.get("error")
        if isinstance(error, dict):
            text = str(error.get("message", "The request was refused"))
            answer.set_exception(SkillError("skill_unavailable", text, "Call `Local.list()` for the skills there are."))
        else:
            answer.set_result(dict(message.get("result") or {}))

    def _fail(self, reason: str) -> None:
        with self._lock:
            self._ended = reason
            waiting, self._waiting = list(self._waiting.values()), {}
        for answer in waiting:
            answer.set_exception(SkillcellConnectionError(reason))


class Pending:
    """A call that has not ended."""

    def __init__(self, process: McpProcess, request_id: int, answer: Future[Json]) -> None:
        self._process = process
        self._request_id = request_id
        self.future: Future[Outcome] = Future()
        answer.add_done_callback(self._settle)

    def cancel(self) -> None:
        try:
            self._process.cancel(self._request_id)
        except SkillcellConnectionError:
            pass  # It has ended, and the call with it.

    def _settle(self, answer: Future[Json]) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(outcome_of(answer.result()))
        except Exception as error:
            self.future.set_exception(error)


def outcome_of(result: Json) -> Outcome:
    """The outcome that a tool result carries; raises ``SkillError`` for a failed call."""
    meta: Json = dict(result.get("_meta") or {})
    text = _text_of(result)
    call_id = str(meta.get("skillcell/call_id", ""))
    if result.get("isError"):
        raise _error_of(text, dict(meta.get("skillcell/error") or {}), call_id)
    return Outcome(
        result=_value_of(result, text),
        call_id=call_id,
        skill={"digest": meta.get("skillcell/digest")},
        execution=dict(meta.get("skillcell/execution") or {}),
    )


def _error_of(text: str, told: Json, call_id: str) -> SkillError:
    first = text.split("\n", 1)[0]
    named, _, message = first.partition(": ")
    code = told.get("code", named)
    return SkillError(
        known_code(code),
        message if named == code else first,
        str(told.get("fix", "")),
        {"text": text},
        outcome={"ok": False, "call_id": call_id} if call_id else None,
    )


def _value_of(result: Json, text: str) -> Any:
    """This revision of MCP wraps whatever is no object as ``{"result": …}``; the text has it as it is."""
    structured = result.get("structuredContent")
    if not isinstance(structured, dict) or list(structured) != ["result"]:
        return structured
    try:
        is_object = json.loads(text) == structured
    except ValueError:
        is_object = False
    return structured if is_object else structured["result"]


def _text_of(result: Json) -> str:
    for part in result.get("content") or []:
        if isinstance(part, dict) and part.get("type") == "text":
            return str(part.get("text", ""))
    return ""
