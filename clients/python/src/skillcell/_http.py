"""One HTTP request at a time, each on its own connection: closing it is how a call is cancelled."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from typing import Any, Dict, Iterator, Mapping, Optional
from urllib.parse import quote, urlencode, urlsplit

from ._errors import SkillcellConnectionError, SkillError, error_from
from ._sse import read_events
from ._types import Event, Json

_FAILURES = (OSError, http.client.HTTPException)


class Service:
    """Where a service is, and the token for it."""

    def __init__(
        self,
        url: str,
        token: Optional[str],
        *,
        connect_timeout: float,
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not an address such as http://127.0.0.1:7399")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._connect_timeout = connect_timeout
        self._ssl_context = ssl_context

    def request(
        self, method: str, path: str, *, query: Optional[Mapping[str, object]] = None, body: Optional[Json] = None
    ) -> Request:
        return Request(self._connection(), method, self._prefix + path + _query(query), self._headers(), body)

    def _connection(self) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._connect_timeout, context=self._ssl_context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=self._connect_timeout)

    def _headers(self) -> Dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}


class Request:
    """A request that can be aborted from another thread."""

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Dict[str, str],
        body: Optional[Json],
    ) -> None:
        self._connection = connection
        self._method = method
        self._target = target
        self._headers = headers
        self._body = body
        self._aborted = False
        self._socket: Optional[socket.socket] = None
        self._response: Optional[http.client.HTTPResponse] = None

    def json(self) -> Json:
        """The answer; raises ``SkillError`` if it says that something failed."""
        try:
            return self._read(self._send("application/json"))
        except SkillcellConnectionError:
            raise
        except _FAILURES as error:
            raise self._failed(error) from error
        finally:
            self._close()

    def events(self) -> Iterator[Event]:
        """The events of the answer as they come; the request is made when the first is asked for."""
        try:
            response = self._send("text/event-stream")
            if response.status != 200:
                self._read(response)
            yield from read_events(response)
        except SkillcellConnectionError:
            raise
        except _FAILURES as error:
            raise self._failed(error) from error
        finally:
            self._close()

    def abort(self) -> None:
        """Closes the connection, which cancels the call that it makes."""
        self._aborted = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It is closed already.

    def _send(self, accept: str) -> http.client.HTTPResponse:
        headers = {**self._headers, "Accept": accept}
        data: Optional[bytes] = None
        if self._body is not None:
            data = json.dumps(self._body, allow_nan=False).encode("utf-8")
            headers["Content-Type"] = "application/json"
        self._connection.connect()
        self._socket = self._connection.sock
        # A call takes as long as its limits allow; only connecting has a deadline here.
        self._connection.sock.settimeout(None)
        if self._aborted:
            raise OSError("aborted")
        self._connection.request(self._method, self._target, body=data, headers=headers)
        self._response = self._connection.getresponse()
        return self._response

    def _close(self) -> None:
        # The response keeps the socket open if only the connection is closed.
        if self._response is not None:
            self._response.close()
        self._connection.close()

    def _read(self, response: http.client.HTTPResponse) -> Json:
        raw = response.read()
        try:
            body: Any = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise SkillcellConnectionError(f"The answer with status {response.status} is not one of Skillcell")
        if response.status >= 400 or body.get("ok") is False:
            raise error_from(body, status=response.status, retry_after=_seconds(response.getheader("Retry-After")))
        return body

    def _failed(self, error: Exception) -> Exception:
        if self._aborted:
            return SkillError("cancelled", "The call was given up by this program")
        return SkillcellConnectionError(f"Skillcell could not be reached: {error}")


def skill_path(name: str) -> str:
    return f"/v1/skills/{quote(name, safe='')}"


def call_path(call_id: str) -> str:
    return f"/v1/calls/{quote(call_id, safe='')}"


def _query(query: Optional[Mapping[str, object]]) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _seconds(text: Optional[str]) -> Optional[float]:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
