"""``secret``: keys and tokens of services, private keys, credentials in a URL.

The formats are those of detect-secrets (Yelp); the plugin objects are used for their
patterns, on single strings, with no settings, no files and no network. Three of its kinds
are left out on purpose: the entropy plugins (ids and hashes are ordinary in memory), those
that know a key only by the variable's name (``assigned`` judges that), and those whose
pattern needs more than linear time. Formats that it does not know yet are added the way it
documents, as further ``RegexBasedDetector`` classes.

The library is imported when a string may hold a key, never for clean text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memrepo.rules.hits import PLACES_PER_STRING, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detect_secrets.plugins.base import RegexBasedDetector

CODE = "secret"

HINT = "Revoke it, take it out of every commit, and keep secrets outside memory."

#: A key has this many characters of :data:`KEY_CHARACTERS` in a row; shorter matches are
#: no keys, and text without such a run needs no look.
KEY_RUN = 20
KEY_CHARACTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-")
_KEY_RUN = re.compile(rf"[A-Za-z0-9+/=_-]{{{KEY_RUN}}}")
LONG_RUN = 27
_LONG_RUN = re.compile(rf"[A-Za-z0-9+/=_-]{{{LONG_RUN}}}")

#: Anchors tried in one string for patterns that read ahead.
_CANDIDATES = 1_000


class Format(NamedTuple):
    """Where the library keeps a format, and which text its matches contain.

    ``anchors``: every match contains one of these (any case); where there are none, every
    match has :data:`LONG_RUN` of the key characters in a row. ``ahead``: every match starts
    with its anchor and could read on to the end of the text, so it is tried at each anchor
    over so many characters. ``bare``: a match need not hold :data:`KEY_RUN` key characters
    in a row.
    """

    module: str
    plugin: str
    anchors: tuple[str, ...]
    ahead: int = 0
    bare: bool = False


_GITLAB = (
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-"),
    *("glagent-", "gloas-", "gr1348941"),
)

FORMATS: tuple[Format, ...] = (
    Format("private_key", "PrivateKeyDetector", ("private key", "putty-user-key-file"), bare=True),
    Format("basic_auth", "BasicAuthDetector", ("://",), ahead=300, bare=True),
    Format("github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Format("aws", "AWSKeyDetector", ("akia", "asia", "abia", "acca", "a3t", "aws")),
    Format("slack", "SlackDetector", ("xox", "hooks.slack.com")),
    Format("stripe", "StripeDetector", ("k_live_",)),
    Format("openai", "OpenAIDetector", ("sk-",), ahead=300),
    Format("jwt", "JwtTokenDetector", ("eyj",), ahead=16_384),
    Format(
        "gitlab_token",
        "GitLabTokenDetector",
        _GITLAB,
    ),
    Format("azure_storage_key", "AzureStorageKeyDetector", ("accountkey=",)),
    Format("discord", "DiscordBotTokenDetector", ()),
    Format("mailchimp", "MailchimpDetector", ()),
    Format("pypi_token", "PypiTokenDetector", ("pypi-",)),
    Format("sendgrid", "SendGridDetector", ("sg.",)),
    Format("square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    Format("telegram_token", "TelegramBotTokenDetector", ()),
    Format("twilio", "TwilioKeyDetector", ()),
)

#: Formats that detect-secrets 1.5 does not know: what they are called, how they begin,
#: and the pattern (from the services' own documentation).
FURTHER: tuple[tuple[str, str, str], ...] = (
    ("Anthropic API Key", "sk-ant-", r"sk-ant-[a-z]+\d\d-[A-Za-z0-9_-]{20,200}"),
    ("OpenAI-style API Key", "sk-", r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,200}"),
    ("GitHub Fine-Grained Token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,100}"),
    ("Google API Key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    ("Hugging Face Token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    ("npm Token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("Encrypted Private Key", "private key", r"BEGIN ENCRYPTED PRIVATE KEY"),
)


#: All anchors of the formats that need a run of key characters.
ANCHORS = tuple(
    sorted(
        {a for f in FORMATS if not f.bare for a in f.anchors}
        | {anchor for _, anchor, _ in FURTHER if anchor != "private key"}
    )
)


class Detector(NamedTuple):
    """A plugin object of the library with what is known about its matches."""

    plugin: RegexBasedDetector
    patterns: tuple[re.Pattern[str], ...]
    anchors: tuple[str, ...]
    ahead: int
    bare: bool


@lru_cache(maxsize=1)
def detectors() -> tuple[Detector, ...]:
    """The plugin objects (this imports detect-secrets, some 100 ms)."""
    from importlib import import_module

    from detect_secrets.plugins.base import RegexBasedDetector

    found: list[Detector] = []
    for form in FORMATS:
        plugin = getattr(import_module(f"detect_secrets.plugins.{form.module}"), form.plugin)()
        patterns = tuple(plugin.denylist)
        found.append(Detector(plugin, patterns, form.anchors, form.ahead, form.bare))
    for name, anchor, source in FURTHER:
        fields = {"secret_type": name, "denylist": [re.compile(source)]}
        further = type("FurtherDetector", (RegexBasedDetector,), fields)()
        patterns = tuple(further.denylist)
        found.append(Detector(further, patterns, (anchor,), 0, anchor == "private key"))
    return tuple(found)


def find(text: str, allow: frozenset[str]) -> list[Place]:
    """Keys and tokens of the string; the value is in no message.

    Matches of an earlier format win over later ones at the same place.
    """
    lowered = text.lower()
    runs = _KEY_RUN.search(text) is not None
    long_runs = runs and _LONG_RUN.search(text) is not None
    places: list[Place] = []
    for detector in detectors():
        if not (runs or detector.bare):
            continue
        if detector.anchors:
            if not any(anchor in lowered for anchor in detector.anchors):
                continue
        elif not long_runs:
            continue
        for pattern in detector.patterns:
            for match in _matches(pattern, detector, text):
                start, end = match.span(match.re.groups and _value_group(match))
                if any(start < p.end and p.start < end for p in places):
                    continue
                if not _is_key(match, detector, text) or text[start:end] in allow:
                    continue
                if match.group() in allow:
                    continue
                kind = detector.plugin.secret_type
                message = f"this looks like a secret: {kind} ({end - start} characters)"
                places.append(Place(start, end, message, HINT))
                if len(places) == PLACES_PER_STRING:
                    return sorted(places, key=lambda p: p.start)
    return sorted(places, key=lambda p: p.start)


def _matches(pattern: re.Pattern[str], detector: Detector, text: str) -> Iterator[re.Match[str]]:
    if not detector.ahead:
        yield from pattern.finditer(text)
        return
    (anchor,) = detector.anchors
    candidates = re.finditer(re.escape(anchor), text, re.IGNORECASE)
    for count, candidate in enumerate(candidates):
        if count == _CANDIDATES:
            return
        start = candidate.start()
        if match := pattern.match(text, start, start + detector.ahead):
            yield match


def _value_group(match: re.Match[str]) -> int:
    """The group that holds the value: 0, the whole match, when group 1 is only a prefix."""
    inner = match.start(1) > match.start() and match.end() - match.end(1) <= 1
    return 1 if inner else 0


def _is_key(match: re.Match[str], detector: Detector, text: str) -> bool:
    """What a pattern cannot say: the match stands alone and its value is not made up."""
    from detect_secrets.filters import heuristic

    found, start = match.group(), match.start()
    kind = detector.plugin.secret_type
    if "private key" in detector.anchors:
        if text[start - 1 : start].isalnum():
            return False
        return found.startswith("PuTTY") or "--" in text[match.end() : match.end() + 6]
    if kind == "Basic Auth Credentials":
        return _is_password(match.group(1))
    if text[start - 1 : start].isalnum() or not _KEY_RUN.search(found):
        return False
    if kind == "OpenAI Token" and text[start - 1 : start] in ("-", "_"):
        return False
    if kind == "JSON Web Token":
        try:
            return bool(detector.plugin.is_formally_valid(found))  # type: ignore[attr-defined]
        except RecursionError:  # the library parses the JSON inside
            return False
    if len(set(found)) < 10 or heuristic.is_sequential_string(found):
        return False
    if kind == "OpenAI-style API Key":
        return any(_is_random(run, 0) for run in re.findall("[A-Za-z0-9]{16,}", found))
    return kind not in _LOOSE or _is_random(found, 2)


#: Formats whose characters also spell slugs, so that only random-looking matches count.
_LOOSE = frozenset(("Discord Bot Token", "GitLab Token", "Telegram Bot Token"))

_PLACEHOLDERS = frozenset(
    ("password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "username", "changeme")
)


def _is_random(run: str, capitals: int) -> bool:
    """Digits among letters of both cases, as no run of words has them."""
    digits = sum(c.isdigit() for c in run)
    upper = sum(c.isupper() for c in run)
    lower = sum(c.islower() for c in run)
    return digits >= 2 and upper >= capitals and lower >= capitals and upper + lower >= 4


def _is_password(value: str) -> bool:
    from detect_secrets.filters import heuristic

    if value.lower() in _PLACEHOLDERS or len(value) < 3 or set(value) <= set("*x.•…"):
        return False
    return not (
        heuristic.is_templated_secret(value) or heuristic.is_prefixed_with_dollar_sign(value)
    )
