"""Where the ``skillcell`` command is."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import List, Optional, Sequence

from ._errors import SkillError

VARIABLE = "SKILLCELL_COMMAND"


def find_command(given: Optional[Sequence[str]], project: Path) -> List[str]:
    """What was given, the variable, the project's own, or the one on the PATH."""
    if given is not None:
        return list(given)
    named = os.environ.get(VARIABLE)
    if named:
        return shlex.split(named)
    for folder in (project, *project.parents):
        own = folder / "node_modules" / ".bin" / "skillcell"
        if own.is_file():
            return [str(own)]
    found = shutil.which("skillcell")
    if found is not None:
        return [found]
    raise SkillError(
        "usage",
        "The command skillcell was not found",
        f"Run `npm install --global skillcell`, or set {VARIABLE} to the command that starts it.",
    )
