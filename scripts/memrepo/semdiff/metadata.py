"""How far an agent's version moved, and whether that fits what changed in its tools."""

from __future__ import annotations

from memrepo.protocol.documents import Metadata
from memrepo.protocol.semver import Version, parse_version
from memrepo.semdiff.change import MetadataDiff, Step, ToolsDiff

_SIZE: dict[Step, int] = {"major": 3, "minor": 2, "patch": 1}


def diff_metadata(
    before: Metadata | None, after: Metadata | None, tools: ToolsDiff
) -> MetadataDiff:
    """The version step taken, and the one that the changes in ``tools`` ask for.

    Items 6 to 8 of semver.org: a breaking change needs a major step, a compatible one a
    minor, a reworded text a patch. While the major version is 0 (item 4) a breaking
    change needs a minor step and any other a patch. ``fits`` is False where the version
    went backward, or where a breaking change got less than it needs; a version that
    cannot be read is judged by nobody here, nor is a side that is absent.
    """
    version = (before.version if before else None, after.version if after else None)
    updated = (before.last_updated if before else None, after.last_updated if after else None)
    if before is None or after is None:
        return MetadataDiff(version=version, last_updated=updated)
    old, new = parse_version(before.version), parse_version(after.version)
    step = _step(old, new, equal=before.version == after.version)
    needs = _needs(tools, initial=old is not None and old.major == 0)
    fits = step != "backward"
    if fits and step != "unknown" and tools.cls == "breaking":
        fits = _taken(step, old) >= _SIZE[needs]
    return MetadataDiff(version=version, last_updated=updated, step=step, needs=needs, fits=fits)


def _step(old: Version | None, new: Version | None, *, equal: bool) -> Step:
    if equal:
        return "none"
    if old is None or new is None:
        return "unknown"
    if new.precedence == old.precedence:
        return "none"
    if new.precedence < old.precedence:
        return "backward"
    if new.major != old.major:
        return "major"
    if new.minor != old.minor:
        return "minor"
    return "patch" if new.patch != old.patch else "pre-release"


def _needs(tools: ToolsDiff, *, initial: bool) -> Step:
    match tools.cls:
        case "breaking":
            return "minor" if initial else "major"
        case "compatible":
            return "patch" if initial else "minor"
        case "wording":
            return "patch"
        case None:
            return "none"


def _taken(step: Step, old: Version | None) -> int:
    """The size of a step; one among pre-releases counts as the step they prepare (item 9)."""
    if step == "pre-release" and old is not None:
        if old.patch:
            return _SIZE["patch"]
        return _SIZE["minor"] if old.minor else _SIZE["major"]
    return _SIZE.get(step, 0)
