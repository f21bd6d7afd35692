"""Names of skills as names of tools, spelled as Skillcell spells them."""

from __future__ import annotations

import hashlib
import re

_MAX_LENGTH = 64
_DIGEST_LENGTH = 16


def tool_name(skill: str) -> str:
    """``text/word_stats`` is ``text__word_stats``."""
    category, _, name = skill.partition("/")
    whole = f"{'N' if re.match('[0-9]', category) else ''}{_spelled(category)}__{_spelled(name)}"
    if len(whole) <= _MAX_LENGTH:
        return whole
    digest = hashlib.sha256(skill.encode("utf-8")).hexdigest()[:_DIGEST_LENGTH]
    return f"{whole[: _MAX_LENGTH - _DIGEST_LENGTH - 1]}H{digest}"


def _spelled(segment: str) -> str:
    """Two underscores part the category from the name, so a second one inside of them is a ``U``."""
    return re.sub("(?<=_)_", "U", segment)
