"""``secret``: a password, key or token written with its value.

``password: hunter2``, ``API_KEY="…"``, ``my password is hunter2``. What makes this an
error and not prose is the value: one word that no sentence has there. ``password is
required`` and ``token: string`` are quiet.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memrepo.rules.hits import PLACES_PER_STRING, Place
from memrepo.rules.secrets import HINT

#: Names for what a person chooses: any word can be the value.
_CHOSEN = (
    r"(?:my|db|user|admin|root|login)?password|passwd|pwd|passphrase|passcode"
    r"|passwort|kennwort|mot de passe|contraseña|contrasena|senha"
)
#: Names for what a machine makes: the value is long and has digits and letters.
_MADE = (
    r"(?:client|app)[ _-]?secret|secret[ _-]?(?:access[ _-]?)?key|api[ _-]?(?:key|token|secret)"
    r"|(?:access|private|auth|account|service)[ _-]?key|(?:access|auth|refresh|bearer)[ _-]?token"
    r"|secret|token|credentials?"
)

#: Words of which one is in every name above, for the look ahead of all rules.
GATE = frozenset(
    """password mypassword dbpassword userpassword adminpassword rootpassword loginpassword
    passwd pwd passphrase passcode passwort kennwort passe contrase contrasena senha
    secret clientsecret appsecret secretkey secretaccesskey secretaccess accesskey apikey
    apitoken apisecret key privatekey authkey accountkey servicekey accesstoken authtoken
    refreshtoken bearertoken token credential credentials""".split()
)

_ASSIGNED = (
    rf"(?<![A-Za-z0-9])(?:(?P<chosen>{_CHOSEN})|(?P<made>{_MADE}))(?![A-Za-z0-9_])"
    r"[*_\"'`\])]{0,3}"
    r"(?:(?P<assign>\s{0,3}(?:=>|:=|={1,3}|:)\s{0,3}[*_]{0,2})"
    r"|(?P<says>\s{1,3}(?:is|was|ist|est|es|é)(?:\snow|\sset\sto|\s?:)?\s{1,3}))"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{1,200})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&<>(){}\[\]|]{1,200}))"
)
_SAYS = frozenset(("is", "was", "ist", "est", "es", "é"))
_NAME = rf"(?:.{{0,60}}[_.-])?(?:(?P<chosen>{_CHOSEN})|(?:{_MADE}))"

#: Values that are types, placeholders or the sentence going on.
_PROSE = frozenset(
    """string str text varchar char bytes any number integer int boolean bool object array null none
    nil undefined true false yes no on off required optional hidden masked redacted secret password
    token default empty unknown missing invalid valid incorrect correct wrong expired expires reset
    changed updated lost forgotten weak strong safe secure stored sent needed protected encrypted
    hashed changeme change placeholder example test value here todo tbd n/a na please must should
    enter type see ask use your the this that not never only one new old same different via from
    bearer basic oauth jwt sms email link below above ok okay fine mandatory read write admin user
    """.split()
)
_MADE_UP = re.compile(
    r"(?:x{3,}|\*+|\.+|-+|_+|…|•+|%\w+%|[$&{<].*|your[_-].*|my[_-].*|.*\*{3}.*|.*x{4}.*"
    r"|example.*|placeholder.*|changeme.*|https?:.*|\d{4}-\d\d-\d\d.*|\d{1,2}[-–]\d{1,2})\Z",
    re.IGNORECASE | re.DOTALL,
)
_COUNTED = re.compile(r"\s*(?:char|letter|digit|symbol|word|time|attempt|day|hour|minute|second|%)")
_SYMBOLS = frozenset("!@#$%^&*+~?")


def find(text: str, allow: frozenset[str]) -> list[Place]:
    """Names of secrets followed by a value; the value is in no message."""
    places: list[Place] = []
    if ":" not in text and "=" not in text and _SAYS.isdisjoint(text.lower().split()):
        return places
    for match in _compiled(_ASSIGNED).finditer(text):
        group = "quoted" if match["quoted"] is not None else "bare"
        value = match[group] if group == "quoted" else match[group].rstrip(".,!?:*_")
        start = match.start(group)
        rest = text[start + len(value) : start + len(value) + 12]
        if value in allow or match.group() in allow or rest[:1] in ("(", "["):  # a call, an index
            continue
        if match["chosen"]:
            ends = not rest.strip(" .") or rest[0] == "\n"
            certain = group == "quoted" or match["assign"] == "=" or bool(match["assign"] and ends)
            found = _is_chosen(value, certain, rest)
        else:
            named = match["made"].lower()
            found = _is_made(value, 16 if named in ("token", "secret") else 8)
        if not found:
            continue
        name = " ".join((match["chosen"] or match["made"]).lower().split())
        places.append(_place(start, start + len(value), name))
        if len(places) == PLACES_PER_STRING:
            break
    return places


def find_named(name: str, value: str, typed: bool, allow: frozenset[str]) -> list[Place]:
    """The same for a JSON member: ``"password": "hunter2"``.

    ``typed``: the value is where the short spelling of parameters has a type.
    """
    named = _named(name)
    if not named or value in allow:
        return []
    found = _is_chosen(value, not typed, "") if named == "chosen" else _is_made(value, 8)
    return [_place(0, len(value), name.lower())] if found else []


@cache
def _compiled(source: str) -> re.Pattern[str]:
    # Compiled when first needed: most runs meet no such name.
    return re.compile(source, re.IGNORECASE)


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    """Whether a member's name is one for something ``chosen`` or ``made``, or ""."""
    match = _compiled(_NAME).fullmatch(name)
    if match is None:
        return ""
    return "chosen" if match["chosen"] else "made"


def _place(start: int, end: int, name: str) -> Place:
    message = f'"{name}" is written with its value ({end - start} characters)'
    return Place(start, end, message, HINT)


def _is_chosen(value: str, certain: bool, rest: str) -> bool:
    """Whether a person's password can be ``value``.

    ``certain``: the text around says that this is the value, so letters alone will do.
    ``rest`` is what follows.
    """
    if len(value) < 4 or any(c.isspace() for c in value) or _MADE_UP.match(value):
        return False
    plain = value.rstrip("!?.").lower()
    if plain in _PROSE:
        return False
    letters = any(c.isalpha() for c in value)
    if not letters:
        digits = sum(c.isdigit() for c in value)
        return digits >= (4 if certain else 6) and not _COUNTED.match(rest)
    if any(c.isdigit() for c in value) or _SYMBOLS & set(value[:-1]):
        return not _COUNTED.match(rest)
    return certain and value.isalpha() and value == value.lower()


def _is_made(value: str, least: int) -> bool:
    """Whether a machine made ``value``: one word with digits and letters, not a path."""
    if len(value) < least or any(c.isspace() for c in value) or _MADE_UP.match(value):
        return False
    digits = sum(c.isdigit() for c in value)
    return digits >= 2 and any(c.isalpha() for c in value) and len(set(value)) >= 6
