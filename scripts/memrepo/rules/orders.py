"""The forms that orders to a model take.

Indirect prompt injection (Greshake et al. 2023) and poisoned tool descriptions share a few
forms: cancelling earlier instructions, a new role, imitated chat markup, keeping things
from a person, sending data away, reading key files. Each form needs a verb and its object,
so that people who forget a password or ask to ignore their last message are not reported.

Patterns are for folded text. In them a space stands for any white space, and ``~3`` for up
to three words between two words.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Order(NamedTuple):
    """One form of order.

    ``needs``: every match holds a whole word of each of these sets, when the text is cut
    at everything but ASCII letters and digits; the first set is the rarest. ``marks``:
    every match contains one of these strings.
    """

    what: str
    source: str
    needs: tuple[frozenset[str], ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """The form as a pattern, compiled when a text can hold it."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    # Bounded on all sides, so that no text makes it slow.
    gaps = re.sub(r"~(\d)", r"(?:\\W{1,4}\\w{1,20}){0,\1}?\\W{1,4}", source)
    return re.compile(gaps.replace(" ", r"\s{1,3}"))


def _pattern(*alternatives: str) -> str:
    return "|".join(alternatives)


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


def _set(*words: str) -> frozenset[str]:
    return frozenset(" ".join(words).split())


_CANCELS = "cancels earlier instructions"
_ROLE = "gives the reader a new role"
_MARKUP = "imitates the markup of a chat"
_SYSTEM = "imitates a system message"
_SECRECY = "keeps something from a person"
_PROMPT = "asks for the reader's own instructions"
_SENDING = "sends private data away"
_FILES = "reads key files"

_CANCEL = "ignore ignoring disregard disregarding forget override overriding bypass bypassing"
_RULES = (
    "instruction instructions prompt prompts directive directives guideline guidelines rules "
    "command commands constraints restrictions programming safeguards"
)
_EARLIER = (
    "previous prior above earlier preceding foregoing all any every your system original "
    "initial existing current safety other its their developer hidden default"
)
_HIDE = (
    "tell telling inform informing notify notifying mention mentioning reveal revealing "
    "disclose disclosing alert alerting warn warning"
)
_PEOPLE = "user users human humans customer customers operator developer owner administrator"
_SEND = (
    "send sends sending post posting upload uploading forward forwarding transmit leak leaking "
    "email copy submit"
)
_KEYS = "credential credentials passwords secrets tokens keys key"
_TALK = "prompt conversation conversations history memory memories context environment"
_AWAY = r"(?:https?:|(?:webhook|attacker|(?:external|remote) (?:server|url|endpoint))\b)"
_TO = r"~5to\W{1,4}(?:\w{1,20}\W{1,4}){0,4}?"
_OPEN = "read open cat include send load fetch attach copy pass upload access"

ORDERS: tuple[Order, ...] = (
    Order(
        _CANCELS,
        _pattern(
            rf"\b{_any(_CANCEL)}~3{_any(_EARLIER)}~3{_any(_RULES)}\b",
            r"\bforget\W{1,4}(?:everything|all)\W{1,4}(?:that\W{1,4})?(?:you|above|before|previous)\b",
        ),
        (_set(_CANCEL), _set(_RULES, "everything all")),
    ),
    Order(
        _CANCELS,
        _pattern(
            r"\b(?:do not|don\W?t|never|stop) (?:follow|obey)(?:ing)?"
            rf"~3{_any(_EARLIER)}~3{_any(_RULES)}\b"
        ),
        (_set("follow obey following obeying"), _set(_RULES), _set("not don dont never stop")),
    ),
    Order(
        _CANCELS,
        _pattern(
            r"\b(?:ignorier(?:e|en|t)|vergiss|vergessen|missachte)"
            r"~4(?:anweisungen|instruktionen|vorgaben|befehle|regeln)\b",
            r"\b(?:ignorez|ignore|oublie|oubliez)~3(?:instructions|consignes|directives)"
            r"\W{1,4}(?:précédentes|antérieures|ci-dessus|du système)",
            r"\b(?:ignora|ignorad|ignore|ignorar|olvida|olvide|esqueça|esqueca)"
            r"~3(?:instrucciones|instruções|instrucoes|órdenes|reglas)"
            r"\W{1,4}(?:anteriores|previas|prévias|del sistema)",
            r"\b(?:ignora|ignorate|dimentica)~3istruzioni\W{1,4}(?:precedenti|del sistema)",
        ),
        (
            _set(
                "ignoriere ignorieren ignoriert vergiss vergessen missachte ignorez ignore oublie",
                "oubliez ignora ignorad ignorar olvida olvide esque esqueca ignorate dimentica",
            ),
            _set(
                "anweisungen instruktionen vorgaben befehle regeln instructions consignes reglas",
                "directives instrucciones instru instrucoes rdenes istruzioni",
            ),
        ),
    ),
    Order(
        _CANCELS,
        _pattern(
            r"(?:忽略|无视|無視|忘记|忘記)[^。.\n]{0,12}(?:指令|指示|提示词|提示詞|规则|規則)",
            r"(?:前|上記|これまで)の(?:すべての|全ての)?(?:指示|命令|指令)[^。.\n]{0,6}(?:無視|忘れ)",
            r"(?:игнорируй|забудь)[^.\n]{0,30}(?:инструкци|указани|команд|правил)",
            r"(?:이전|위의|모든)[^.\n]{0,12}(?:지시|명령|지침)[^.\n]{0,8}무시",
        ),
        marks=("忽略", "无视", "無視", "忘", "игнорируй", "забудь", "무시"),
    ),
    Order(
        _ROLE,
        _pattern(
            r"\byou must now\b",
            r"\bfrom now on,? you(?:r\b| (?:are|will|must|shall|should|can|have|may|only)\b)",
            r"\byou are now (?:in \w{1,20} mode|dan|jailbroken|evil|free (?:of|from)"
            r"|un(?:restricted|filtered|censored|bound)"
            r"|no longer (?:bound|restricted|limited|an?))\b",
            r"\byou are now (?:an?|the|acting as|operating as)\W{1,4}(?:\w{1,20}\W{1,4}){0,3}?"
            r"(?:ai|assistant|agent|bot|chatbot|model|hacker|terminal|shell|interpreter|persona)\b",
        ),
        (_set("now"), _set("you your")),
    ),
    Order(
        _ROLE,
        _pattern(
            r"\byour (?:new|real|true|actual|only) (?:instructions?|task|role|goal|objective"
            r"|directive|mission|identity)(?: is\b| are\b|\s?:)",
            r"\bnew (?:system )?instructions?\s?:",
        ),
        (
            _set("instruction instructions task role goal objective directive mission identity"),
            _set("new real true actual only"),
        ),
    ),
    Order(
        _ROLE,
        _pattern(
            r"\byour (?:new|real|true|actual|only) (?:persona|purpose|system prompt)"
            r"(?: is\b| are\b|\s?:)",
            r"\b(?:enter|enable|activate|to|in) (?:developer|god|dan|sudo) mode\b",
        ),
        (
            _set("persona purpose prompt mode"),
            _set("new real true actual only developer god dan sudo"),
        ),
    ),
    Order(
        _ROLE,
        _pattern(
            r"\bjailbr(?:eak|oken)\b",
            r"\bpretend (?:to be|that you|you(?:\W?re| are)) (?:an?\W{1,4}|the\W{1,4})?"
            r"(?:\w{1,20}\W{1,4}){0,2}?(?:ai|assistant|model|admin|administrator|root|developer"
            r"|unrestricted|different|not|system|no)\b",
            r"\b(?:act|respond|answer|behave) as (?:if you (?:are|were|had) |an? |the )?"
            r"(?:unrestricted|unfiltered|uncensored|jailbroken|dan|evil|root)\b",
        ),
        (_set("jailbreak jailbroken pretend unrestricted unfiltered uncensored dan evil root"),),
    ),
    Order(_MARKUP, _pattern(r"<\|[a-z_]{2,30}\|>"), marks=("<|",)),
    Order(_MARKUP, _pattern(r"\[/?inst\]", r"<</?sys>>"), (_set("inst sys"),)),
    Order(
        _SYSTEM,
        _pattern(
            r"(?:^|\n)[^\S\n]{0,3}#{1,6}\s?system(?: (?:prompt|message|instructions?))?:",
            r"(?:^|\n)###\s?instructions?:",
            r"(?:^|\n)(?:new )?system (?:prompt|message|instructions?|override|update|notice)\s?:",
            r"\[system(?: (?:prompt|message|override|instructions?))?\]",
            r"</?(?:system|instructions?|system[-_](?:prompt|message|reminder))>",
            r"\b(?:begin|end) (?:of )?system (?:prompt|message)\b",
        ),
        (_set("system instruction instructions"),),
    ),
    Order(
        _SYSTEM,
        _pattern(r"<important>", r"(?:^|\n)human:[^\n]{0,4000}\n\s{0,3}assistant:"),
        (_set("important human"),),
        ("<important>", "human:"),
    ),
    Order(
        _SECRECY,
        _pattern(
            r"\b(?:do not|don\W?t|never|must not|mustn\W?t|should not|shouldn\W?t|without)"
            r"(?: ever)? "
            rf"{_any(_HIDE)}~6{_any(_PEOPLE)}\b",
            r"\b(?:hide|conceal)\W{1,4}(?:this|that|it|these|them|your|everything|anything)"
            rf"~4from (?:the |this |your )?{_any(_PEOPLE)}\b",
            rf"\bkeep~3(?:secret|hidden|private|quiet) from (?:the |this |your )?{_any(_PEOPLE)}\b",
            rf"\bwithout (?:the |your )?{_any(_PEOPLE)}(?:\Ws?)? "
            r"(?:knowing|knowledge|noticing)\b",
        ),
        (
            _set(_HIDE, "hide conceal keep knowing knowledge noticing"),
            _set(_PEOPLE),
            _set("not don dont never mustn mustnt shouldn shouldnt without from"),
        ),
    ),
    Order(
        _PROMPT,
        _pattern(
            r"\b(?:reveal|print|repeat|output|display|show|leak|dump|give|tell|share)"
            r"~3(?:system prompt"
            r"|(?:your|hidden|initial|original|full) (?:system )?(?:prompt|instructions))\b"
        ),
        (
            _set("prompt instructions"),
            _set("reveal print repeat output display show leak dump give tell share"),
            _set("system your hidden initial original full"),
        ),
    ),
    Order(
        _SENDING,
        _pattern(
            rf"\b{_any(_SEND)}~5(?:{_any(_KEYS)}{_TO}(?:{_AWAY}|[\w.+-]{{1,40}}@[\w-]{{1,40}}\.)"
            rf"|{_any(_TALK)}{_TO}{_AWAY})"
        ),
        (_set(_SEND), _set(_KEYS, _TALK), _set("to")),
    ),
    Order(_SENDING, _pattern(r"\bexfiltrat(?:e|ing)\b"), (_set("exfiltrate exfiltrating"),)),
    Order(
        _FILES,
        _pattern(
            rf"\b{_any(_OPEN)}~6[\w~/.-]{{0,40}}(?:\.ssh/|(?:id_rsa|id_ed25519|\.aws/credentials"
            r"|/etc/(?:passwd|shadow)|\.cursor/mcp\.json|\.netrc|(?<!\w)\.env)(?![a-z0-9]))"
        ),
        (_set("ssh rsa ed25519 aws etc mcp netrc env"), _set(_OPEN)),
    ),
)
