"""Server-sent events, as the service writes them."""

from __future__ import annotations

import json
from typing import Iterable, Iterator, List

from ._errors import SkillcellConnectionError
from ._types import Event


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yields whole events; comments keep the connection open and carry nothing."""
    name = "message"
    data: List[str] = []
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line == "":
            if data:
                yield _event(name, "\n".join(data))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].lstrip(" "))


def _event(name: str, text: str) -> Event:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SkillcellConnectionError(f"The event {name!r} is not JSON") from error
    return Event(name, value if isinstance(value, dict) else {"value": value})
