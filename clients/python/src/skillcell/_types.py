"""What calls give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Union

#: A duration: seconds, or text such as ``"500ms"``.
Duration = Union[int, float, str]
Json = Dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A call that succeeded. What the transport does not carry is empty."""

    #: What the skill returned.
    result: Any
    #: The id of the receipt.
    call_id: str
    #: Name, version and digest.
    skill: Json = field(default_factory=dict)
    #: Mode, wall and engine.
    execution: Json = field(default_factory=dict)
    usage: Json = field(default_factory=dict)
    #: What the skill used, and what it was denied.
    capabilities: Json = field(default_factory=dict)
    #: What the skill printed.
    logs: str = ""
    warnings: List[str] = field(default_factory=list)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Outcome:
        return cls(
            result=body.get("result"),
            call_id=str(body.get("call_id", "")),
            skill=dict(body.get("skill") or {}),
            execution=dict(body.get("execution") or {}),
            usage=dict(body.get("usage") or {}),
            capabilities=dict(body.get("capabilities") or {}),
            logs=str(body.get("logs", "")),
            warnings=list(body.get("warnings") or []),
        )


@dataclass(frozen=True)
class Event:
    """Something that happened in a call: ``accepted``, ``started``, ``log``, ``denied`` or ``done``."""

    type: str
    data: Json

    @property
    def outcome(self) -> Optional[Json]:
        """The whole outcome, in ``done``."""
        value = self.data.get("outcome")
        return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class ReceiptPage:
    """Receipts, newest first."""

    receipts: List[Json]
    #: Pass it as ``before`` for the next page; ``None`` on the last.
    older: Optional[str]


def duration_text(value: Optional[Duration]) -> Optional[str]:
    """As Skillcell reads it; a number means seconds."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not 0 < value < float("inf"):
        raise ValueError(f"timeout {value!r} is not a positive number of seconds")
    return f"{max(1, round(value * 1000))}ms"
