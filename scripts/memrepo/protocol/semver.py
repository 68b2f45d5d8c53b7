"""Semantic versions: their grammar and their order (semver.org 2.0.0, items 2 to 11)."""

from __future__ import annotations

import re

import msgspec

_NUMBER = "(0|[1-9][0-9]*)"
_PRE = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = "[0-9A-Za-z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+({_BUILD}(?:\.{_BUILD})*))?"
)
#: Longer texts are no version that anyone keeps; the standard itself sets no limit.
MAX_CHARS = 256


class Version(msgspec.Struct, frozen=True):
    """A version; ``pre_release`` and ``build`` are the identifiers between the dots."""

    major: int
    minor: int
    patch: int
    pre_release: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    @property
    def core(self) -> tuple[int, int, int]:
        """Major, minor and patch."""
        return (self.major, self.minor, self.patch)

    @property
    def precedence(self) -> tuple[object, ...]:
        """A key to sort by: equal where only the build differs (items 10 and 11)."""
        identifiers = tuple(
            (0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre_release
        )
        return (*self.core, not self.pre_release, identifiers)


def is_version(text: str) -> bool:
    """Whether ``text`` is a version, for when its parts are not wanted."""
    return len(text) <= MAX_CHARS and _VERSION.fullmatch(text) is not None


def parse_version(text: str) -> Version | None:
    """The version that ``text`` is, or None where it is none: no "v", no space, no leading 0."""
    match = _VERSION.fullmatch(text) if len(text) <= MAX_CHARS else None
    if match is None:
        return None
    major, minor, patch, pre_release, build = match.groups()
    return Version(
        int(major),
        int(minor),
        int(patch),
        tuple(pre_release.split(".")) if pre_release else (),
        tuple(build.split(".")) if build else (),
    )
