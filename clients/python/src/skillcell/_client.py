"""Clients of ``skillcell serve``."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Iterator, List, Mapping, Optional, Type, TypeVar
from urllib.parse import quote

from ._http import Request, Service, call_path, skill_path
from ._types import Duration, Event, Json, Outcome, ReceiptPage, duration_text

_T = TypeVar("_T")
_END = object()


class _Routes:
    """The requests that both clients make."""

    def __init__(
        self,
        url: str,
        token: Optional[str] = None,
        *,
        connect_timeout: float = 10.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._service = Service(url, token, connect_timeout=connect_timeout, ssl_context=ssl_context)

    def _get(self, path: str, **query: object) -> Request:
        return self._service.request("GET", path, query=query)

    def _execute(
        self,
        skill: str,
        params: Optional[Mapping[str, Any]],
        timeout: Optional[Duration],
        memory: Optional[str],
        execution: Optional[str],
    ) -> Request:
        options = {"timeout": duration_text(timeout), "memory": memory, "execution": execution}
        body: Json = {"params": dict(params or {})}
        body.update({name: value for name, value in options.items() if value is not None})
        return self._service.request("POST", f"{skill_path(skill)}/execute", body=body)

    def _receipts(
        self, limit: int, skill: Optional[str], code: Optional[str], denied: bool, before: Optional[str]
    ) -> Request:
        return self._get(
            "/v1/receipts",
            limit=limit,
            skill=skill,
            code=code,
            denied="true" if denied else None,
            before=before,
        )

    def _receipt(self, call_id: str) -> Request:
        return self._get(f"/v1/receipts/{quote(call_id, safe='')}")

    def _cancel(self, call_id: str) -> Request:
        return self._service.request("DELETE", call_path(call_id))


class Client(_Routes):
    """A client of a Skillcell service. Every failure is a ``SkillError``; each request has its own connection.

    >>> client = Client("http://127.0.0.1:7399", token="sct_…")
    >>> client.execute("text/word_stats", {"text": "To be"}).result  # doctest: +SKIP
    """

    def list(self) -> List[Json]:
        """Every skill, with what it can do and where it comes from."""
        return list(self._get("/v1/skills").json()["skills"])

    def inspect(self, skill: str) -> Json:
        """One skill: what it declares, what a call would be granted, and who enforces it."""
        return self._get(skill_path(skill)).json()

    def execute(
        self,
        skill: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[Duration] = None,
        memory: Optional[str] = None,
        execution: Optional[str] = None,
    ) -> Outcome:
        """Calls a skill once. ``timeout`` (seconds, or text such as ``"5s"``) and ``memory`` lower its limits."""
        return Outcome.of(self._execute(skill, params, timeout, memory, execution).json())

    def stream(
        self,
        skill: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[Duration] = None,
        memory: Optional[str] = None,
        execution: Optional[str] = None,
    ) -> Iterator[Event]:
        """Calls a skill and yields its events. Leaving the loop cancels the call; ``done`` has the outcome."""
        return self._execute(skill, params, timeout, memory, execution).events()

    def events(self, call_id: str) -> Iterator[Event]:
        """Follows a running call, from its beginning."""
        return self._get(f"{call_path(call_id)}/events").events()

    def calls(self, limit: int = 50) -> Json:
        """Running calls, and the newest that ended."""
        return self._get("/v1/calls", limit=limit).json()

    def call(self, call_id: str) -> Json:
        """One call: running, or its receipt."""
        return self._get(call_path(call_id)).json()

    def cancel(self, call_id: str) -> Json:
        """Ends a running call; its cell is killed."""
        return self._cancel(call_id).json()

    def receipts(
        self,
        *,
        limit: int = 50,
        skill: Optional[str] = None,
        code: Optional[str] = None,
        denied: bool = False,
        before: Optional[str] = None,
    ) -> ReceiptPage:
        """Receipts of ended calls, newest first."""
        return _page(self._receipts(limit, skill, code, denied, before).json())

    def receipt(self, call_id: str) -> Json:
        """The receipt of one call."""
        return self._receipt(call_id).json()

    def whoami(self) -> Json:
        """The tenant and the scopes of the token."""
        return self._get("/v1/me").json()

    def health(self) -> Json:
        """Whether the service is up. Needs no token."""
        return self._get("/healthz").json()


class AsyncClient(_Routes):
    """``Client`` for asyncio. Cancelling a task closes its connection, which cancels the call.

    The standard library has no asynchronous HTTP client, so every request waits in a thread; at most ``max_requests`` at
    a time.
    """

    def __init__(
        self,
        url: str,
        token: Optional[str] = None,
        *,
        connect_timeout: float = 10.0,
        ssl_context: Optional[ssl.SSLContext] = None,
        max_requests: int = 64,
    ) -> None:
        super().__init__(url, token, connect_timeout=connect_timeout, ssl_context=ssl_context)
        self._threads = ThreadPoolExecutor(max_requests, thread_name_prefix="skillcell")

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the threads when their requests have ended."""
        self._threads.shutdown(wait=False)

    async def list(self) -> List[Json]:
        """Every skill, with what it can do and where it comes from."""
        return list((await self._json(self._get("/v1/skills")))["skills"])

    async def inspect(self, skill: str) -> Json:
        """One skill: what it declares, what a call would be granted, and who enforces it."""
        return await self._json(self._get(skill_path(skill)))

    async def execute(
        self,
        skill: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[Duration] = None,
        memory: Optional[str] = None,
        execution: Optional[str] = None,
    ) -> Outcome:
        """Calls a skill once. ``timeout`` (seconds, or text such as ``"5s"``) and ``memory`` lower its limits."""
        return Outcome.of(await self._json(self._execute(skill, params, timeout, memory, execution)))

    def stream(
        self,
        skill: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[Duration] = None,
        memory: Optional[str] = None,
        execution: Optional[str] = None,
    ) -> AsyncIterator[Event]:
        """Calls a skill and yields its events. Closing the iterator cancels the call; ``done`` has the outcome."""
        return self._events(self._execute(skill, params, timeout, memory, execution))

    def events(self, call_id: str) -> AsyncIterator[Event]:
        """Follows a running call, from its beginning."""
        return self._events(self._get(f"{call_path(call_id)}/events"))

    async def calls(self, limit: int = 50) -> Json:
        """Running calls, and the newest that ended."""
        return await self._json(self._get("/v1/calls", limit=limit))

    async def call(self, call_id: str) -> Json:
        """One call: running, or its receipt."""
        return await self._json(self._get(call_path(call_id)))

    async def cancel(self, call_id: str) -> Json:
        """Ends a running call; its cell is killed."""
        return await self._json(self._cancel(call_id))

    async def receipts(
        self,
        *,
        limit: int = 50,
        skill: Optional[str] = None,
        code: Optional[str] = None,
        denied: bool = False,
        before: Optional[str] = None,
    ) -> ReceiptPage:
        """Receipts of ended calls, newest first."""
        return _page(await self._json(self._receipts(limit, skill, code, denied, before)))

    async def receipt(self, call_id: str) -> Json:
        """The receipt of one call."""
        return await self._json(self._receipt(call_id))

    async def whoami(self) -> Json:
        """The tenant and the scopes of the token."""
        return await self._json(self._get("/v1/me"))

    async def health(self) -> Json:
        """Whether the service is up. Needs no token."""
        return await self._json(self._get("/healthz"))

    async def _json(self, request: Request) -> Json:
        return await self._aborting(request, request.json)

    async def _events(self, request: Request) -> AsyncIterator[Event]:
        events = request.events()
        try:
            while True:
                event = await self._aborting(request, lambda: next(events, _END))
                if not isinstance(event, Event):
                    return
                yield event
        finally:
            request.abort()

    async def _aborting(self, request: Request, work: Callable[[], _T]) -> _T:
        waiting = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await waiting
        except asyncio.CancelledError:
            request.abort()
            raise


def _page(body: Json) -> ReceiptPage:
    return ReceiptPage(list(body["receipts"]), body.get("older"))
