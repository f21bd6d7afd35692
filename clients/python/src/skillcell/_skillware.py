"""What names a skill: an id, a folder, or a bundle that Skillware loaded."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union

#: An id such as ``"text/word_stats"``, a folder, or a bundle, class or instance of Skillware.
SkillLike = Union[str, "os.PathLike[str]", Mapping[str, Any], object]

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Reference:
    """Exactly one of the two is set."""

    id: Optional[str] = None
    folder: Optional[str] = None


def reference_to(skill: SkillLike) -> Reference:
    """Nothing of the skill runs here; a bundle only says where it lies."""
    if isinstance(skill, str):
        return Reference(id=skill) if _ID.fullmatch(skill) else Reference(folder=_folder(skill))
    if isinstance(skill, os.PathLike):
        return Reference(folder=_folder(os.fspath(skill)))
    if isinstance(skill, Mapping):
        return _of_bundle(skill)
    kind = skill if isinstance(skill, type) else type(skill)
    found = _folder_of_module(sys.modules.get(kind.__module__))
    if found is None:
        raise TypeError(f"{skill!r} is not a skill: give an id, a folder, or a bundle of Skillware")
    return Reference(folder=found)


def _of_bundle(bundle: Mapping[str, Any]) -> Reference:
    """As ``SkillLoader.load_skill`` gives it, with or without its module."""
    found = _folder_of_module(bundle.get("module"))
    if found is not None:
        return Reference(folder=found)
    manifest = bundle.get("manifest")
    named = bundle.get("registry_id") or (manifest.get("name") if isinstance(manifest, Mapping) else None)
    if isinstance(named, str) and _ID.fullmatch(named):
        return Reference(id=named)
    raise TypeError("The bundle names neither its module nor its registry id")


def _folder_of_module(module: object) -> Optional[str]:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return None
    folder = os.path.dirname(os.path.abspath(file))
    return folder if os.path.isfile(os.path.join(folder, "manifest.yaml")) else None


def _folder(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
