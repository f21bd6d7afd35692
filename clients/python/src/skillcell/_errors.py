"""Every way a call can fail: one exception with a closed list of codes, as in Skillcell itself."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Optional, Tuple, get_args

ErrorCode = Literal[
    "skill_error",
    "usage",
    "invalid_params",
    "manifest_invalid",
    "manifest_drift",
    "unenforceable",
    "capability_denied",
    "resource_exceeded",
    "untrusted",
    "approval_required",
    "signature_invalid",
    "skill_unavailable",
    "outcome_unknown",
    "internal",
    "cancelled",
]

#: All codes, in the order of Skillcell's own table.
ERROR_CODES: Tuple[ErrorCode, ...] = get_args(ErrorCode)


class SkillError(Exception):
    """A call that failed or was refused. ``code`` says what happened, ``fix`` what to do about it."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        fix: str = "",
        detail: Optional[Mapping[str, Any]] = None,
        *,
        outcome: Optional[Mapping[str, Any]] = None,
        status: Optional[int] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.fix = fix
        self.detail = dict(detail or {})
        #: The whole outcome if a call was made.
        self.outcome = dict(outcome) if outcome is not None else None
        #: The HTTP status, if the error came from a service.
        self.status = status
        #: Seconds after which another attempt makes sense, if the service says so.
        self.retry_after = retry_after

    @property
    def call_id(self) -> Optional[str]:
        """The id of the receipt, if a call was made."""
        value = (self.outcome or {}).get("call_id")
        return value if isinstance(value, str) else None

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return f"{text}\nfix: {self.fix}" if self.fix else text


class SkillcellConnectionError(ConnectionError):
    """Skillcell could not be reached, or its answer was not one of Skillcell."""


def known_code(code: object) -> ErrorCode:
    """A newer Skillcell may have codes that this version does not know."""
    for known in ERROR_CODES:
        if code == known:
            return known
    return "internal"


def error_from(
    body: Mapping[str, Any], *, status: Optional[int] = None, retry_after: Optional[float] = None
) -> SkillError:
    """The exception for ``{"ok": false, "error": …}``."""
    error = body.get("error")
    fields: Mapping[str, Any] = error if isinstance(error, dict) else {}
    detail = fields.get("detail")
    return SkillError(
        known_code(fields.get("code")),
        str(fields.get("message", "Skillcell gave no reason")),
        str(fields.get("fix", "")),
        detail if isinstance(detail, dict) else {},
        outcome=body if "call_id" in body else None,
        status=status,
        retry_after=retry_after,
    )
