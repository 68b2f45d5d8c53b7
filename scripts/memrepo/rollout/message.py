"""The commit of a rollout's change: what it did, who asked for it and why. Pure."""

from __future__ import annotations

import re

import msgspec

from memrepo.protocol.rollout import Rollout, weight_text
from memrepo.report.escape import clipped, visible
from memrepo.rules.commits import skip_marker

#: On each change of a rollout: its name.
TRAILER = "Rollout"
PHASE = "Rollout-Phase"
STEP = "Rollout-Step"
WEIGHT = "Rollout-Weight"
BY = "Rollout-By"
#: The commit that the treatment was at when it was brought in.
TREATMENT = "Rollout-Treatment"
#: The analysis that the change was decided on.
VERDICT = "Rollout-Verdict"
REASON = "Rollout-Finding"

_OURS = re.compile(r"^(?=[ \t]*rollout(?:-[a-z]+)?[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_MOST = 400
# Units name themselves, and a finding may name units.
_UNSAID = "not shown, for it holds words that would skip checks"


class Why(msgspec.Struct, frozen=True):
    """Why a change is made: a person's words, who that is where the author is a job's, and
    the verdict and finding of an analysis; "" for what there is none of."""

    reason: str = ""
    by: str = ""
    verdict: str = ""
    finding: str = ""


def message_of(rollout: Rollout, said: str, why: Why, treatment: str = "") -> str:
    """The whole message; ``said`` begins with the rollout's name (``name: 5 % → 25 %``)."""
    state = rollout.state
    trailers = {
        TRAILER: rollout.name,
        PHASE: state.phase,
        STEP: f"{state.step}/{len(rollout.steps)}",
        WEIGHT: weight_text(state.weight),
        TREATMENT: treatment,
        VERDICT: why.verdict,
        REASON: _UNSAID if skip_marker(why.finding) else why.finding,
        BY: why.by,
    }
    listed = [f"{key}: {_line(text)}" for key, text in trailers.items() if text]
    words = _OURS.sub("> ", visible(why.reason).strip())
    return "\n\n".join(filter(None, (f"rollout {_line(said)}", words, "\n".join(listed)))) + "\n"


def _line(text: str) -> str:
    return visible(clipped(" ".join(text.split()), _MOST), one_line=True)
