"""Calls untrusted AI-agent skills, each call in a fresh sandbox.

``Client`` and ``AsyncClient`` talk to ``skillcell serve`` over HTTP, ``Local`` and ``AsyncLocal`` to a runtime on this
machine over standard input and output. ``execute_isolated`` is the shortest way to one call.
"""

from ._client import AsyncClient, Client
from ._errors import ERROR_CODES, ErrorCode, SkillcellConnectionError, SkillError
from ._isolated import aexecute_isolated, execute_isolated
from ._local import AsyncLocal, Local
from ._skillware import SkillLike
from ._types import Event, Outcome, ReceiptPage

__all__ = [
    "ERROR_CODES",
    "AsyncClient",
    "AsyncLocal",
    "Client",
    "ErrorCode",
    "Event",
    "Local",
    "Outcome",
    "ReceiptPage",
    "SkillError",
    "SkillLike",
    "SkillcellConnectionError",
    "aexecute_isolated",
    "execute_isolated",
]
