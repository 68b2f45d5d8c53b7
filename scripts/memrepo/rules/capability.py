"""``tool-capability``: what a tool can do to the world, from the words that say so.

Reads the tool's name, its description and the names and descriptions of its parameters.
It looks for what the tool says it does, not for what it might: a tool that lies about
itself is what the review of its code is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from memrepo.protocol.documents import Tool
from memrepo.rules.characters import shown
from memrepo.rules.fold import fold

CODE = "tool-capability"

#: Words of a text to look in: a description is bounded, hostile ones are longer.
_TEXT_CHARS = 4_000
_TEXTS = 500

_FILE = r"(?:files?|director(?:y|ies)|folders?|file ?systems?)"
_MONEY = r"(?:money|funds|payments?|cash|refunds?|dollars|bitcoins?|crypto(?:currency)?|salary)"
_CODE = (
    r"(?:code|commands?|scripts?|python|javascript|sql|programs?|process(?:es)?|notebooks?"
    r"|binar(?:y|ies))"
)


def _pattern(*alternatives: str) -> str:
    # "~3" is up to three words between two words.
    source = re.sub(r"~(\d)", r" (?:[\\w/'-]{1,30} ){0,\1}?", "|".join(alternatives))
    return rf"\b(?:{source})\b"


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


#: For each capability (a verb phrase) a pattern for the words of names and one for the
#: sentences of descriptions, both parted by single spaces.
_CAPABILITIES: tuple[tuple[str, str, str], ...] = (
    (
        "run code",
        _pattern(
            r"exec|eval|shell|bash|powershell|subprocess|terminal|repl|sudo",
            rf"(?:run|execute|evaluate|start|spawn|invoke)~1{_CODE}",
            r"code (?:interpreter|execution|runner)",
        ),
        _pattern(
            rf"(?:run(?:s|ning)?|execut(?:e|es|ing)|evaluat(?:e|es|ing)|spawns?|launch(?:es)?)~4{_CODE}",
            r"(?:code|command|script) (?:execution|interpreter)",
            r"arbitrary (?:code|commands?|sql)",
            r"(?:in|on|to) an? (?:bash|shell|terminal)",
            r"shell (?:commands?|access)",
        ),
    ),
    (
        "reach any URL",
        _pattern(
            r"urls?|uris?|href|webhooks?|curl|wget|web ?(?:fetch|browse|request|page)|proxy",
            r"https?(?: (?:request|get|post|fetch|call))?|browser?|navigate|download|endpoint",
        ),
        _pattern(
            r"(?:any|an?|the|given|arbitrary|specified|external|remote|public)~2"
            r"(?:urls?|web ?(?:page|site)s?|webhooks?|http endpoints?)",
            r"https? requests?",
            r"(?:fetch|open|visit|brows|crawl|scrap|download|navigat)(?:e|es|s|ing)?~4"
            r"(?:urls?|websites?|web|internet|(?:web ?)?pages?|links?)",
            r"(?:from|on|to) the (?:internet|web)",
        ),
    ),
    (
        "touch files",
        _pattern(
            rf"(?:\w+ )?{_FILE}",
            r"(?:file|local|output|input|target|destination) ?paths?",
            r"file ?names?|mkdir|rmdir|unlink|chmod",
        ),
        _pattern(
            r"(?:read|writ|creat|delet|edit|mov|renam|copy|copi|overwrit|append|sav|upload|list"
            r"|download|search|remov|modif|open|push|updat|get)(?:e|es|s|ed|ing|y|ies)?"
            rf"~6{_FILE}",
            rf"{_FILE} (?:contents?|metadata|paths?|tree|info(?:rmation)?)",
            r"file ?systems?",
        ),
    ),
    (
        "move money",
        _pattern(
            r"pays?|payments?|payouts?|refunds?|purchases?|checkout|charge|withdraw(?:al)?",
            r"deposit|donat(?:e|ion)|billing|trade|buy|sell|credit ?card|iban|wallet|gift ?card",
            rf"(?:transfer|send|wire|move)~1{_MONEY}",
            r"(?:wire|bank|money|funds?) transfers?",
        ),
        _pattern(
            r"(?:transfer|send|wir|mov|withdraw|deposit|collect|issu|mak|process|tak)(?:e|es|s|ing)?"
            rf"~4{_MONEY}",
            r"(?:refund|charge|pay|bill|debit)s? (?:the|an?|for|to|with|by|your|their)",
            r"(?:refund|charge|pay|bill|debit)s? (?:customers?|users?)",
            r"credit cards?|payment methods?|bank accounts?|purchas(?:e|es|ing)",
        ),
    ),
)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PARTS = re.compile(r"[^A-Za-z0-9]+")


def capabilities(tool: Tool) -> list[tuple[str, str]]:
    """What the tool says it can do, each with the words that say so.

    The capabilities are ``run code``, ``reach any URL``, ``touch files`` and ``move
    money``, in that order, each at most once.
    """
    names = [_spaced(tool.name)]
    sentences = [tool.description]
    for name, description in _parameters(tool.parameters):
        names.append(_spaced(name))
        sentences.append(description)
    found: list[tuple[str, str]] = []
    for what, in_names, in_sentences in _CAPABILITIES:
        words = _first(in_names, names) or _first(in_sentences, sentences)
        if words:
            found.append((what, words))
    return found


def _first(source: str, texts: list[str]) -> str:
    for text in texts[:_TEXTS]:
        if match := _compiled(source).search(" ".join(fold(text[:_TEXT_CHARS]).split())):
            return shown(match.group().strip())
    return ""


def _spaced(name: str) -> str:
    """``runSQL_query`` as words: ``run SQL query``."""
    return " ".join(_PARTS.split(_CAMEL.sub(" ", name))).strip()


def _parameters(parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and description of every parameter, at any depth, of both spellings."""
    properties = parameters.get("properties")
    if not isinstance(properties, dict) and "type" not in parameters:
        properties = parameters
    stack: list[Any] = [properties]
    while stack:
        level = stack.pop()
        if not isinstance(level, dict):
            continue
        for name, schema in level.items():
            if isinstance(schema, dict):
                text = schema.get("description")
                yield name, text if isinstance(text, str) else ""
                items = schema.get("items")
                stack.append(schema.get("properties"))
                stack.append(items.get("properties") if isinstance(items, dict) else None)
            else:
                yield name, ""
