"""A runtime on this machine, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from types import TracebackType
from typing import Any, List, Mapping, Optional, Sequence, Type, Union

from ._command import find_command
from ._errors import SkillError
from ._mcp import McpProcess, Pending
from ._names import tool_name
from ._run import RunProcess
from ._skillware import SkillLike, reference_to
from ._types import Json, Outcome, duration_text

_Call = Union[Pending, RunProcess]


class _Runtime:
    """What both kinds of ``Local`` share: the processes, and which of them makes a call."""

    def __init__(
        self,
        project: Union[str, "os.PathLike[str]", None] = None,
        *,
        command: Optional[Sequence[str]] = None,
        workspace: Optional[str] = None,
        policy: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        allow_env: Sequence[str] = (),
    ) -> None:
        self._project = Path(project if project is not None else os.getcwd()).resolve()
        self._command = find_command(command, self._project)
        self._env = env
        self._lock = threading.Lock()
        self._process: Optional[McpProcess] = None
        self._is_closed = False
        paths = {"--workspace": workspace, "--policy": policy}
        given = [(name, os.path.abspath(path)) for name, path in paths.items() if path is not None]
        self._options = ["--isolated", *(word for pair in given for word in pair)]
        for name in allow_env:
            self._options += ["--env", name]

    def _start(self, skill: SkillLike, params: Optional[Mapping[str, Any]], timeout: Optional[float]) -> _Call:
        limit = duration_text(timeout)
        reference = reference_to(skill)
        if reference.folder is None:
            return self._kept().call_tool(tool_name(str(reference.id)), params or {})
        lowered = [] if limit is None else ["--timeout", limit]
        words = [*self._command, "run", reference.folder, "--json", *self._options, *lowered]
        return RunProcess(words, params or {}, cwd=str(self._project), env=self._env)

    def _kept(self) -> McpProcess:
        with self._lock:
            if self._is_closed:
                raise SkillError("usage", "This local runtime is closed", "Open a new one.")
            if self._process is None:
                words = [*self._command, "mcp", "--project", str(self._project), *self._options]
                # Every skill, however many there are.
                words += ["--search-over", "1000000"]
                self._process = McpProcess(words, cwd=str(self._project), env=self._env)
            return self._process

    def _list(self) -> List[Json]:
        return [_skill_of(tool) for tool in self._kept().list_tools()]

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            process, self._process = self._process, None
        if process is not None:
            process.close()


class Local(_Runtime):
    """A runtime on this machine. Skills never run weaker than in an OS jail (``--isolated``).

    A skill that is named by its id runs through a process that is kept (``skillcell mcp``); it ends with this program.
    A folder, or a bundle of Skillware, runs through one ``skillcell run`` per call.

    >>> with Local() as local:  # doctest: +SKIP
    ...     local.execute("text/word_stats", {"text": "To be"}, timeout=30).result
    """

    def execute(
        self, skill: SkillLike, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Outcome:
        """Calls a skill once. After ``timeout`` seconds the call is cancelled and its cell killed."""
        call = self._start(skill, params, timeout)
        try:
            return call.future.result(_patience(call, timeout))
        except FutureTimeoutError:
            call.cancel()
            raise _took_too_long(timeout) from None
        except BaseException:
            # For example Ctrl-C while we wait.
            if not call.future.done():
                call.cancel()
            raise

    def list(self) -> List[Json]:
        """Every skill that can be called by its id, with the schema of its parameters."""
        return self._list()

    def close(self) -> None:
        """Ends the kept process; calls that still run are cancelled."""
        self._close()

    def __enter__(self) -> Local:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncLocal(_Runtime):
    """``Local`` for asyncio. Cancelling a task cancels its call and kills the cell."""

    async def execute(
        self, skill: SkillLike, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Outcome:
        """Calls a skill once. After ``timeout`` seconds the call is cancelled and its cell killed."""
        call = await asyncio.to_thread(self._start, skill, params, timeout)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(call.future), _patience(call, timeout))
        except asyncio.TimeoutError:
            call.cancel()
            raise _took_too_long(timeout) from None
        except asyncio.CancelledError:
            call.cancel()
            raise

    async def list(self) -> List[Json]:
        """Every skill that can be called by its id, with the schema of its parameters."""
        return await asyncio.to_thread(self._list)

    async def aclose(self) -> None:
        """Ends the kept process; calls that still run are cancelled."""
        await asyncio.to_thread(self._close)

    async def __aenter__(self) -> AsyncLocal:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()


def _patience(call: _Call, timeout: Optional[float]) -> Optional[float]:
    """``skillcell run`` keeps the limit itself, and its outcome says more."""
    return None if isinstance(call, RunProcess) else timeout


def _took_too_long(timeout: Optional[float]) -> SkillError:
    return SkillError(
        "resource_exceeded",
        f"The call took longer than {timeout} s and was cancelled",
        "Pass a longer timeout.",
        {"limit": "timeout"},
    )


def _skill_of(tool: Json) -> Json:
    meta: Json = dict(tool.get("_meta") or {})
    return {
        "name": meta.get("skillcell/skill", tool.get("name")),
        "description": tool.get("description", ""),
        "parameters": tool.get("inputSchema", {}),
        "outputs": (tool.get("outputSchema") or {}).get("properties", {}),
        "origin": meta.get("skillcell/origin"),
        "digest": meta.get("skillcell/digest"),
    }
