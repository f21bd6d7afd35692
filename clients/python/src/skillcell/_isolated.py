"""One call in one line, as Skillware's users know it."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from typing import Any, Dict, Mapping, Optional, Tuple

from ._local import Local
from ._skillware import SkillLike


class _Runtimes:
    """One kept runtime per project, because starting one takes about a second. They end with this program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A forked child must not use the pipes of its parent.
        self._kept: Dict[Tuple[int, str], Local] = {}
        atexit.register(self._close)

    def of(self, project: str) -> Local:
        with self._lock:
            key = (os.getpid(), project)
            if key not in self._kept:
                self._kept[key] = Local(project)
            return self._kept[key]

    def forget(self, project: str) -> None:
        with self._lock:
            local = self._kept.pop((os.getpid(), project), None)
        if local is not None:
            local.close()

    def _close(self) -> None:
        for pid, project in list(self._kept):
            if pid == os.getpid():
                self.forget(project)


_RUNTIMES = _Runtimes()


def execute_isolated(
    skill: SkillLike, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = 30
) -> Any:
    """Calls a skill in a fresh sandbox and returns its result; raises ``SkillError`` if it fails.

    ``skill`` is an id such as ``"text/word_stats"``, a folder, or what Skillware's ``SkillLoader.load_skill`` gave.
    Ids are those of the current folder's project. Use ``Local`` for the receipt, the log, or another project.
    """
    project = os.getcwd()
    try:
        return _RUNTIMES.of(project).execute(skill, params, timeout=timeout).result
    except ConnectionError:
        # The process has ended, so the next call starts a new one.
        _RUNTIMES.forget(project)
        raise


async def aexecute_isolated(
    skill: SkillLike, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = 30
) -> Any:
    """``execute_isolated`` for asyncio. It waits in a thread: use ``AsyncLocal`` to be able to cancel a call."""
    return await asyncio.to_thread(execute_isolated, skill, params, timeout=timeout)
