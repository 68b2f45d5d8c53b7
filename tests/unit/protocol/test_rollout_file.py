from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput
from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.findings import Finding
from memrepo.protocol.rollout import (
    DEFAULT_STEPS,
    MOST_HOLD,
    Measure,
    Phase,
    Rollout,
    State,
    Step,
    hold_text,
    overlap,
    parse_hold,
    parse_weight,
    rollout_name,
    rollout_path,
    weight_text,
)
from memrepo.protocol.rolloutdump import dump_rollout, with_state
from memrepo.protocol.rolloutfile import branch_problem, parse_rollout, read_rollout
from rolloutfiles import NOW, a_rollout, at_step

PATH = ".memrepo/rollouts/new-classifier.yml"
FILE = dump_rollout(
    a_rollout(goals=(Measure("seconds", "mean", "lower"),), steps=(Step(5000, 3600), Step(100_000)))
).decode()


@pytest.fixture(params=["libyaml", "pure Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML comes with and without libyaml; both must answer alike."""
    if request.param == "pure Python":
        monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader, raising=False)


def mistakes(text: str) -> list[Finding]:
    rollout, findings = parse_rollout(text.encode(), PATH)
    assert (rollout is None) == bool(findings)
    assert all(CATALOGUE[finding.code].severity == finding.severity for finding in findings)
    return findings


def edited(old: str, new: str) -> list[Finding]:
    assert FILE.count(old) == 1
    return mistakes(FILE.replace(old, new))


def test_the_file_itself_is_right() -> None:
    assert mistakes(FILE) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("unit: user", "units: user", "rollout-unknown-key", "`unit`"),
        ("guardrails:", "guardrail:", "rollout-unknown-key", "`guardrails`"),
        ("    hold: 1h", "    holds: 1h", "rollout-unknown-key", "`hold`"),
        ("    margin: 0.02", "    margins: 0.02", "rollout-unknown-key", "`margin`"),
        ("  since: 2026", "  sinse: 2026", "rollout-unknown-key", "`since`"),
        ("weight: 5\n", "weight: 0.001\n", "rollout-value", "two decimals"),
        ("weight: 5\n", "weight: 5%\n", "rollout-value", "two decimals"),
        ("weight: 5\n", "weight: 0\n", "rollout-value", "0.01 to 100"),
        ("weight: 5\n", "weight: '5'\n", "rollout-value", "two decimals"),
        ("weight: 5\n", "weight: 100\n", "rollout-value", "above 100 %"),
        ("hold: 1h", "hold: 1w", "rollout-value", "24h"),
        ("hold: 1h", "hold: 400d", "rollout-value", "365d"),
        ("name: new-classifier\n", "name: other\n", "rollout-value", "the file's own"),
        ("name: new-classifier\n", "name: a/b\n", "rollout-value", "`name`"),
        ("control: main", "control: feature/new-classifier", "rollout-value", "control branch"),
        ("control: main", "control: -x", "rollout-value", "Git"),
        ("agents: [support_agent_v1]", "agents: []", "rollout-value", "no agent"),
        ("agents: [support_agent_v1]", "agents: [a b]", "rollout-value", "Entry 1"),
        ("agents: [support_agent_v1]", "agents: a", "rollout-value", "list"),
        ("unit: user", "unit: User Id", "rollout-value", "word"),
        ("murmur3-cbor/1", "murmur3-cbor", "rollout-value", "`murmur3-cbor/1`"),
        ("salt: 'new-classifier:'", "salt: new-classifier", "rollout-value", "colon"),
        ("salt: 'new-classifier:'\n", "", "rollout-value", "never change it"),
        ("layered: false", "layered: maybe", "rollout-value", "true or false"),
        ("direction: higher", "direction: up", "rollout-value", "higher or lower"),
        ("kind: rate", "kind: ratio", "rollout-value", "Did you mean `rate`"),
        ("margin: 0.02", "margin: -1", "rollout-value", "at least 0"),
        ("margin: 0.02", "margin: 2", "rollout-value", "percentage points"),
        ("metric: seconds", "metric: resolved", "rollout-value", "above already"),
        ("metric: seconds", "metric: 1st", "rollout-value", "letter"),
        ("phase: draft", "phase: started", "rollout-value", "running"),
        ("phase: draft", "phase: running", "rollout-value", "one of the steps"),
        ("  step: 0", "  step: 9", "rollout-value", "0 to 2"),
        ("  weight: 0", "  weight: 5", "rollout-value", "0 %"),
        ("12:00:00Z", "12:00:00", "rollout-value", "offset"),
        ("2026-03-01T", "9999-03-01T", "rollout-value", "out of range"),
        ("steps:", "steps: [", "rollout-syntax", "cannot be read"),
        ("unit: user", "unit: user\nunit: agent", "rollout-syntax", "given again"),
        ("unit: user", "unit: !!str user", "rollout-syntax", "tag"),
    ],
)
def test_one_mistake_is_one_finding(old: str, new: str, code: str, words: str) -> None:
    found = edited(old, new)
    about = [finding for finding in found if words in f"{finding.message} {finding.hint}"]
    assert about, found
    assert about[0].code == code
    assert about[0].path == PATH
    assert about[0].line >= 1


def test_a_finding_has_its_place() -> None:
    (found,) = edited("kind: rate", "kind: ratio")
    line = FILE.split("kind: rate")[0].count("\n") + 1
    assert (found.line, found.column, found.pointer) == (line, 11, "/guardrails/0/kind")


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "a", "state: x", "\xff"])
def test_what_is_no_rollout(text: str) -> None:
    assert mistakes(text)


def test_reading_says_where_and_what() -> None:
    bad = FILE.replace("kind: rate", "kind: ratio").encode()
    with pytest.raises(BadInput, match=r"new-classifier\.yml:\d+:11: `kind` must be rate or mean"):
        read_rollout(bad, PATH)


def test_many_mistakes_are_cut() -> None:
    assert len(mistakes("".join(f"x{n}: 1\n" for n in range(500)))) == 100


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    rollout, findings = parse_rollout(data, PATH)
    assert (rollout is None) == bool(findings)


# --- weights, holds, paths


@pytest.mark.parametrize(
    ("text", "parts"),
    [("0.01", 10), ("5", 5_000), ("12.5", 12_500), ("100", 100_000), ("100.00", 100_000), ("0", 0)],
)
def test_weights(text: str, parts: int) -> None:
    assert parse_weight(text) == parts
    assert parse_weight(weight_text(parts)) == parts


@pytest.mark.parametrize("text", ["", "-1", "100.01", "1e1", "0.001", "05", ".5", "5.", "５"])
def test_no_weights(text: str) -> None:
    assert parse_weight(text) is None


@given(st.integers(0, 10_000))
def test_every_hundredth_of_a_percent_is_written_and_read(hundredths: int) -> None:
    assert parse_weight(weight_text(hundredths * 10)) == hundredths * 10


@given(st.integers(0, MOST_HOLD))
def test_holds(seconds: int) -> None:
    text = hold_text(seconds)
    if int(text.rstrip("hms")) < 1_000_000:
        assert parse_hold(text) == seconds


def test_paths() -> None:
    assert rollout_path("a.b") == ".memrepo/rollouts/a.b.yml"
    assert rollout_name(".memrepo/rollouts/a.b.yml") == "a.b"
    for path in (".memrepo/rollouts/a/b.yml", ".memrepo/rollouts/.yml", "a.yml", "x/a.yml"):
        assert rollout_name(path) is None


@pytest.mark.parametrize("name", ["main", "feature/x", "knowledge/wiki", "é", "a-b_c.d"])
def test_branches(name: str) -> None:
    assert branch_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("", "HEAD", "-x", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{1}"),
        *("/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "refs/heads/a", "a\u2028b"),
        *("a\x7fb", "x" * 201),
    ],
)
def test_no_branches(name: str) -> None:
    assert branch_problem(name)


# --- writing

TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2999, 1, 1)).map(
    lambda when: when.replace(microsecond=0, tzinfo=UTC)
)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@*-]{0,20}", fullmatch=True)
BRANCHES = st.text(min_size=1, max_size=20).filter(lambda name: branch_problem(name) is None)
WORDS = st.sampled_from(["true", "null", "1", "1e3", "0x1f", "yes", "No", "-", "a: b", "it's"])
MEASURES = st.builds(
    Measure,
    st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,20}", fullmatch=True),
    st.sampled_from(["rate", "mean"]),
    st.sampled_from(["higher", "lower"]),
    st.none() | st.integers(0, 999_999).map(lambda millionths: millionths / 1_000_000),
)


@st.composite
def rollouts(draw: st.DrawFn) -> Rollout:
    weights = sorted(draw(st.sets(st.integers(1, 10_000), min_size=1, max_size=6)))
    steps = tuple(
        Step(weight * 10, draw(st.sampled_from([0, 90, 60, 3600, 86_400]))) for weight in weights
    )
    measures = draw(st.lists(MEASURES, max_size=4, unique_by=lambda measure: measure.metric))
    control, treatment = draw(
        st.lists(
            BRANCHES | WORDS.filter(lambda w: not branch_problem(w)),
            min_size=2,
            max_size=2,
            unique=True,
        )
    )
    step = draw(st.integers(1, len(steps)))
    phase: Phase = draw(st.sampled_from(get_args(Phase)))
    number = 0 if phase == "draft" else step
    weight = {"draft": 0, "aborted": 0, "promoted": 100_000}.get(phase, steps[step - 1].weight)
    name = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{4,20}", fullmatch=True))
    return Rollout(
        name=name,
        control=control,
        treatment=treatment,
        agents=tuple(draw(st.lists(IDS, min_size=1, max_size=4, unique=True))),
        unit=draw(st.sampled_from(["user", "agent", "ticket"])),
        salt=draw(st.from_regex(r"[!-~]{1,20}:", fullmatch=True)),
        assignment=draw(st.sampled_from(["murmur3-cbor/1", "murmur3-utf8/1"])),
        layered=draw(st.booleans()),
        steps=steps,
        guardrails=tuple(measure for measure in measures if measure.margin is not None),
        goals=tuple(measure for measure in measures if measure.margin is None),
        state=State(phase, number, weight, draw(TIMES)),
    )


@given(rollouts())
def test_what_is_written_is_read_again(rollout: Rollout) -> None:
    data = dump_rollout(rollout)
    assert read_rollout(data, rollout_path(rollout.name)) == rollout
    # Another YAML reader sees texts where texts are meant.
    plain = yaml.safe_load(data)
    assert (plain["control"], plain["salt"]) == (rollout.control, rollout.salt)
    assert plain["agents"] == list(rollout.agents)


@given(rollouts(), TIMES)
def test_another_state_leaves_every_other_byte(rollout: Rollout, when: datetime) -> None:
    data = dump_rollout(rollout)
    state = State("aborted", rollout.state.step, 0, when)
    assert with_state(data, state, "x") == dump_rollout(
        Rollout(**{**{f: getattr(rollout, f) for f in Rollout.__struct_fields__}, "state": state})
    )


COMMENTED = """\
# Ours: ask Ana before a change.\u2028# Thanks.\r
{body}state: # where it stands
    since:   "2026-03-01T12:00:00Z"   # Sunday
    phase: 'draft'
    weight: 0 # per cent
    step: 0
# the end
"""


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_comments_and_spacing_survive_a_change_of_state(mark: str) -> None:
    text = mark + COMMENTED.replace("{body}", FILE.split("state:")[0])
    state = State("running", 1, 5_000, NOW + timedelta(hours=1))
    changed = with_state(text.encode(), state, PATH).decode()
    assert changed == (
        text.replace("12:00:00Z", "13:00:00Z")
        .replace("'draft'", "'running'")
        .replace("    weight: 0 #", "    weight: 5 #")
        .replace("    step: 0", "    step: 1")
    )


def test_a_state_in_one_line_is_changed_in_place() -> None:
    text = FILE.split("state:")[0] + (
        "state: {phase: draft, step: 0, weight: 0, since: 2026-03-01T12:00:00Z}\n"
    )
    changed = with_state(text.encode(), State("running", 2, 100_000, NOW), PATH).decode()
    assert changed.endswith(
        "state: {phase: running, step: 2, weight: 100, since: 2026-03-01T12:00:00Z}\n"
    )


def test_a_state_that_cannot_be_replaced_is_refused() -> None:
    text = FILE.replace("phase: draft", 'phase: "\\x64raft"')
    assert mistakes(text) == []
    with pytest.raises(BadInput, match="cannot be replaced"):
        with_state(text.encode(), State("running", 1, 5_000, NOW), PATH)


# --- overlap


def test_running_rollouts_of_one_agent_overlap() -> None:
    one = at_step(1, agents=("support_*",))
    other = at_step(2, "paused", name="other", agents=("sales", "*_v1"))
    assert overlap([one, other]) == [(one, other, "support_* and *_v1")]
    assert overlap([one, at_step(1, name="other", agents=("sales_*",))]) == []
    assert overlap([one, a_rollout(name="other", agents=("*",))]) == []


def test_layered_rollouts_may_overlap_when_both_say_so() -> None:
    one, other = at_step(1, layered=True), at_step(1, name="other", layered=True)
    assert overlap([one, other]) == []
    assert len(overlap([one, at_step(1, name="other")])) == 1


def test_default_steps() -> None:
    assert [step.weight for step in DEFAULT_STEPS] == [1000, 5000, 10_000, 25_000, 50_000, 100_000]
