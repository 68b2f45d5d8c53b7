from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.buckets.assign import assign
from memrepo.errors import BadInput
from memrepo.protocol.rollout import Measure, Rollout
from memrepo.stats.arms import Arm
from memrepo.stats.outcomes import Cell, Outcomes, Weight, read_outcomes
from rolloutfiles import NOW, RESOLVED, a_rollout, at_step

SECONDS = Measure("seconds", "mean", "lower")
HALF = at_step(5, goals=(SECONDS,))
LATER = NOW + timedelta(days=30)


@pytest.fixture(params=[False, True], ids=["plain", "arrays"])
def arrays(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def read(text: str | bytes, rollout: Rollout = HALF, **options: object) -> Outcomes:
    data = text.encode() if isinstance(text, str) else text
    return read_outcomes(io.BytesIO(data), rollout, **options)  # type: ignore[arg-type]


def units(variant: str, count: int, rollout: Rollout = HALF) -> list[str]:
    found = (f"user-{number}" for number in range(1_000_000))
    chosen = (unit for unit in found if assign(rollout, unit).variant == variant)
    return [next(chosen) for _ in range(count)]


def arm(outcomes: Outcomes, *, treatment: bool, metric: int = 0) -> Arm:
    found = Arm()
    for cell, part in outcomes.cells.items():
        if (cell.metric, cell.is_treatment) == (metric, treatment):
            found = found.joined(part)
    return found


TREATED, CONTROLLED = units("treatment", 3), units("control", 3)


# --- what counts


def test_csv_and_json_lines_say_the_same(arrays: bool) -> None:
    rows = [
        (TREATED[0], "resolved", 1),
        (TREATED[1], "seconds", 2.5),
        (CONTROLLED[0], "resolved", 0),
    ]
    table = "unit,metric,value\n" + "".join(f"{u},{m},{v}\n" for u, m, v in rows)
    lines = "".join(f'{{"unit": "{u}", "metric": "{m}", "value": {v}}}\n' for u, m, v in rows)
    found = read(table, arrays=arrays)
    assert found == read(lines, arrays=arrays)
    assert found.cells == {
        Cell(0, True, 0): Arm(1, 1.0, 0.0),
        Cell(1, True, 0): Arm(1, 2.5, 0.0),
        Cell(0, False, 0): Arm(1, 0.0, 0.0),
    }
    assert (found.counts.treatment_units, found.counts.control_units) == (2, 1)


def test_columns_may_stand_in_any_order(arrays: bool) -> None:
    found = read(f'value,"unit",metric\n1,"{TREATED[0]}",resolved\n\n', arrays=arrays)
    assert arm(found, treatment=True) == Arm(1, 1.0, 0.0)


def test_a_byte_order_mark_and_windows_lines(arrays: bool) -> None:
    text = f"\ufeffunit,metric,value\r\n{TREATED[0]},resolved,1\r\n{CONTROLLED[0]},resolved,0\r\n"
    found = read(text, arrays=arrays)
    assert found.counts.rows == 2
    assert arm(found, treatment=True).units == 1
    line = f'\ufeff\n {{"unit":"{TREATED[0]}","metric":"resolved","value":1}}\n'
    assert read(line, arrays=arrays).counts.rows == 1


def test_nothing_is_no_mistake(arrays: bool) -> None:
    for text in ("", "\n\n", "unit,metric,value\n", "\ufeff"):
        found = read(text, arrays=arrays)
        assert (found.cells, found.counts.rows, found.newest) == ({}, 0, None)


def test_rows_of_one_unit_are_one_outcome(arrays: bool) -> None:
    rows = [(TREATED[0], 1), (TREATED[0], 0), (TREATED[0], 1), (TREATED[1], 0)]
    text = "unit,metric,value\n" + "".join(f"{unit},resolved,{value}\n" for unit, value in rows)
    found = arm(read(text, arrays=arrays), treatment=True)
    assert found.units == 2
    assert found.mean == pytest.approx((2 / 3 + 0) / 2)
    assert found.squares == pytest.approx(2 * (1 / 3) ** 2)


def test_one_unit_in_two_spellings_is_one(arrays: bool) -> None:
    unit = next(f"é{n}" for n in range(99) if assign(HALF, f"é{n}").variant == "treatment")
    other = unit.replace("é", "e\u0301")
    text = f"unit,metric,value\n{unit},resolved,1\n{other},resolved,0\n"
    assert arm(read(text, arrays=arrays), treatment=True) == Arm(1, 0.5, 0.0)


def test_a_number_is_the_text_of_its_digits(arrays: bool) -> None:
    lines = '{"unit": 42, "metric": "resolved", "value": 1}\n'
    table = "unit,metric,value\n42,resolved,1\n"
    assert read(lines, arrays=arrays) == read(table, arrays=arrays)


def test_the_same_row_again_counts_once_where_there_are_times(arrays: bool) -> None:
    row = f"{TREATED[0]},resolved,1,2026-03-02T08:00:00Z\n"
    other = f"{TREATED[0]},resolved,0,2026-03-02T08:00:00Z\n"
    again = f"{TREATED[0]},resolved,1,2026-03-02T09:00:00+01:00\n"
    text = "unit,metric,value,at\n" + row + other + again + row
    found = read(text, arrays=arrays)
    assert found.counts.repeated == 2
    assert arm(found, treatment=True) == Arm(1, 0.5, 0.0)
    assert found.newest == datetime(2026, 3, 2, 8, tzinfo=UTC)


def test_a_unit_counts_on_the_day_of_its_first_row(arrays: bool) -> None:
    text = "unit,metric,value,at\n" + "".join(
        f"{unit},resolved,{value},2026-03-{day:02}T23:30:00-01:00\n"
        for unit, value, day in [(TREATED[0], 1, 9), (TREATED[0], 0, 4), (TREATED[1], 1, 4)]
    )
    found = read(text, arrays=arrays)
    day = (datetime(2026, 3, 5, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    assert list(found.cells) == [Cell(0, True, day)]
    assert found.cells[Cell(0, True, day)].units == 2


# --- weights over time


def test_the_weight_of_its_time_gives_a_row_its_arm(arrays: bool) -> None:
    weights = [Weight(NOW, 1_000), Weight(NOW + timedelta(days=1), 50_000)]
    weights.append(Weight(NOW + timedelta(days=2), 100_000))
    first = units("treatment", 1, at_step(1))[0]
    later = next(unit for unit in TREATED if assign(at_step(1), unit).variant == "untracked")
    rows = [
        (first, 0, "early"),
        (first, 1, "counts"),
        (later, 1, "uncompared"),
        (later, 25, "counts"),
        (CONTROLLED[0], 49, "uncompared"),
        (first, 50, "uncompared"),
    ]
    text = "unit,metric,value,at\n" + "".join(
        f"{unit},resolved,1,{(NOW + timedelta(hours=hours - 0.5)).isoformat()}\n"
        for unit, hours, _ in rows
    )
    found = read(text, weights=weights, arrays=arrays).counts
    kinds = [kind for _, _, kind in rows]
    assert (found.early, found.uncompared) == (kinds.count("early"), kinds.count("uncompared"))
    assert (found.treatment_units, found.control_units) == (2, 0)


def test_without_weights_the_state_says_since_when(arrays: bool) -> None:
    text = "unit,metric,value,at\n" + "".join(
        f"{TREATED[0]},resolved,1,2026-03-01T{hour}:00:00Z\n" for hour in (11, 12, 13)
    )
    assert read(text, arrays=arrays).counts.early == 1


def test_without_times_the_last_weight_holds(arrays: bool) -> None:
    weights = [Weight(NOW, 50_000), Weight(NOW, 0)]
    text = f"unit,metric,value\n{TREATED[0]},resolved,1\n"
    assert read(text, weights=weights, arrays=arrays).counts.uncompared == 1
    assert read(text, weights=[], arrays=arrays).counts.rows == 1


def test_a_draft_compares_nobody(arrays: bool) -> None:
    text = f"unit,metric,value\n{TREATED[0]},resolved,1\n"
    assert read(text, a_rollout(), arrays=arrays).cells == {}


def test_agents_that_are_not_covered_do_not_count(arrays: bool) -> None:
    rollout = at_step(5, unit="agent", agents=("user-*",))
    text = f"unit,metric,value\n{TREATED[0]},resolved,1\nother,resolved,1\nthird,resolved,1\n"
    found = read(text, rollout, arrays=arrays)
    assert (found.counts.uncompared, arm(found, treatment=True).units) == (2, 1)


def test_a_time_without_a_name_is_refused_whatever_the_time_is_now(arrays: bool) -> None:
    text = "unit,metric,value,at\na,resolved,1,9999-12-31T23:59:59-23:00\n"
    with pytest.raises(BadInput, match="line 2: `at` is in the future"):
        read(text, arrays=arrays)
    first = text.replace("9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00")
    assert read(first, arrays=arrays).counts.early == 1


# --- what rows say of themselves


def test_a_unit_that_read_the_other_branch_was_in_both_arms(arrays: bool) -> None:
    rows = [
        (TREATED[0], "treatment"),
        (TREATED[1], "control"),
        (TREATED[2], "main"),
        (CONTROLLED[0], "untracked"),
        (CONTROLLED[1], "feature/new-classifier"),
        (CONTROLLED[2], ""),
    ]
    text = "unit,metric,value,variant\n" + "".join(f"{u},resolved,1,{v}\n" for u, v in rows)
    found = read(text, arrays=arrays)
    assert found.crossed == tuple(sorted([TREATED[1], TREATED[2], CONTROLLED[1]]))
    # Never believed: each is in the arm that the rollout gives it.
    assert arm(found, treatment=True).units == 3


# --- mistakes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("unit,metric\n", "line 1: no column `value`"),
        ("unit,metric,value,timestamp\n", "line 1: no column 'timestamp' is known"),
        ("unit,metric,value,value\n", "line 1: the column `value` is there twice"),
        ("\n\nunit,metric,vlaue\n", "line 3: no column 'vlaue'"),
        ('unit,"metric,value\n', "line 1"),
        ("u,resolved,1\n", "line 1: no column 'u'"),
        ("{H}a,resolved,1\nb,resolved,NaN\n", "line 3: `value` is not finite: nan"),
        ("{H}a,resolved,inf\n", "line 2: `value` is not finite"),
        ("{H}a,resolved,\n", "line 2: no `value`"),
        ("{H}a,resolved,one\n", "line 2: `value` is no number: 'one'"),
        ("{H}a,seconds,1_0\n", "line 2: `value` is no number: '1_0'"),
        ("{H}a,seconds,1e200\n", "line 2: `value` is beyond every range"),
        ("{H}a,resolved,0.5\n", "line 2: resolved is a rate"),
        ("{H}a,seconds,9\n\na,resolved,2\n", "line 4: resolved is a rate"),
        ("{H}a,resolvd,1\n", "line 2: the rollout has no metric 'resolvd'"),
        ("{H},resolved,1\n", "line 2: a unit must not be empty"),
        ("{H} a,resolved,1\n", "line 2: the unit ' a' has spaces"),
        ("{H}a,resolved,1\nb,resolved\n", "line 3: 2 fields where the first line names 3"),
        ("{H}a,resolved,1,x\nb,resolved\n", "line 2: 4 fields"),
        ('{H}"a\nb",resolved,1\nc,resolved,x\n', "line 4: `value` is no number"),
        ('{H}a,"resolved,1\n', "line 2: no CSV"),
        ("{T}a,resolved,1,2026-03-02\n", "line 2: `at` is no ISO 8601 time"),
        ("{T}a,resolved,1,2026-03-02T10:00:00\n", "line 2: `at` is no ISO 8601 time"),
        ("{T}a,resolved,1,\n", "line 2: no `at`"),
        ("{T}a,resolved,1,2026-09-02T10:00:00Z\n", "line 2: `at` is in the future"),
        ("{T}a,resolved,1,9999-12-31T23:59:59-23:00\n", "line 2: `at` is in the future"),
        ("{V}a,resolved,1,treatmnt\n", "line 2: 'treatmnt' is no variant"),
        ('{"unit":"a","metric":"resolved","value":NaN}\n', "line 1: `value` is not finite"),
        ('{"unit":"a","metric":"resolved","value":1}\n{"unit":"a"}\n', "line 2: Object missing"),
        ('{"unit":"a","metric":"resolved","value":"1"}\n', "line 1: Expected `float`"),
        ('{"unit":true,"metric":"resolved","value":1}\n', "line 1: Expected"),
        ('{"unit":1.5,"metric":"resolved","value":1}\n', "line 1: Expected"),
        ('{"unit":"a","metric":"resolved","value":1,"x":1}\n', "line 1: Object contains unknown"),
        ('{"unit":"a"\n', "line 1"),
        ('\n\n{"unit":"","metric":"resolved","value":1}\n', "line 3: a unit must not be empty"),
        ('{"unit":"a","metric":"resolved","value":1e999}\n', "line 1"),
        ('{J},"at":"2026-03-02T10:00:00Z"}\n{J}}\n', "line 2: no `at`"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, words: str, arrays: bool) -> None:
    head = "unit,metric,value"
    text = text.replace("{H}", f"{head}\n").replace("{T}", f"{head},at\n")
    text = text.replace("{V}", f"{head},variant\n")
    text = text.replace("{J}", '{"unit":"a","metric":"resolved","value":1')
    with pytest.raises(BadInput) as refused:
        read(text, now=LATER, arrays=arrays)
    assert words in refused.value.message
    assert refused.value.message.isascii()


@pytest.mark.parametrize(
    "data",
    [
        b"unit,metric,value\na,resolved,1\n\xff,resolved,1\n",
        b'{"unit":"a","metric":"resolved","value":1}\n{"unit":"\xff"}\n',
    ],
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"line [23]: (not UTF-8|Invalid UTF-8)"):
        read(data)


def test_bytes_that_are_no_text_after_a_quoted_field() -> None:
    rows = b'"a",resolved,1\n' * 60_000
    with pytest.raises(BadInput, match="not UTF-8"):
        read(b"unit,metric,value\n" + rows + b"\xff,resolved,1\n")


def test_a_hint_names_what_was_meant() -> None:
    with pytest.raises(BadInput) as refused:
        read("unit,metric,value\na,resolvd,1\n")
    assert refused.value.hint == "Did you mean `resolved`?"


# --- blocks


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_file_of_many_blocks_is_read_whole(quote: str, arrays: bool) -> None:
    count = 45_000
    rows = "".join(
        f"{quote}user-{number}{quote},resolved,{number % 2}\n" for number in range(count)
    )
    text = "unit,metric,value\n" + rows
    found = read(text, arrays=arrays).counts
    assert found.rows == count == found.treatment_units + found.control_units
    with pytest.raises(BadInput, match=f"line {count + 2}: `value`"):
        read(text + "a,resolved,x\n", arrays=arrays)


def test_json_of_many_blocks_is_read_whole(arrays: bool) -> None:
    count = 15_000
    text = "".join(
        f'{{"unit":"user-{n}","metric":"resolved","value":{n % 2}}}\n' for n in range(count)
    )
    assert read(text, arrays=arrays).counts.rows == count
    with pytest.raises(BadInput, match=f"line {count + 1}: a unit"):
        read(text + '{"unit":"","metric":"resolved","value":1}\n', arrays=arrays)


# --- the two ways agree

ROWS = st.lists(
    st.tuples(
        st.integers(0, 40).map(lambda n: f"user-{n}"),
        st.sampled_from(
            [("resolved", 0.0), ("resolved", 1.0), ("seconds", 2.5), ("seconds", -7.0)]
        ),
        st.integers(0, 90),
        st.sampled_from(["", "treatment", "control"]),
    ),
    max_size=60,
)


@given(ROWS, st.booleans())
def test_both_ways_give_the_same_answer(
    rows: list[tuple[str, tuple[str, float], int, str]], timed: bool
) -> None:
    weights = [Weight(NOW, 10_000), Weight(NOW + timedelta(hours=24), 50_000)]
    weights.append(Weight(NOW + timedelta(hours=72), 100_000))
    text = "unit,metric,value,variant" + (",at\n" if timed else "\n")
    for unit, (metric, value), hours, variant in rows:
        when = (NOW + timedelta(hours=hours - 5)).isoformat()
        text += f"{unit},{metric},{value},{variant}" + (f",{when}\n" if timed else "\n")
    plain, fast = (
        read(text, weights=weights[: 3 if timed else 2], arrays=way) for way in (False, True)
    )
    assert plain.counts == fast.counts
    assert (plain.crossed, plain.newest) == (fast.crossed, fast.newest)
    assert set(plain.cells) == set(fast.cells)
    for cell, one in plain.cells.items():
        other = fast.cells[cell]
        assert one.units == other.units
        assert one.mean == pytest.approx(other.mean)
        assert one.squares == pytest.approx(other.squares, abs=1e-9)


def test_the_measures_are_numbered_guardrails_first() -> None:
    assert HALF.guardrails == (RESOLVED,)
    text = f"unit,metric,value\n{TREATED[0]},seconds,3\n"
    assert list(read(text).cells) == [Cell(1, True, 0)]
