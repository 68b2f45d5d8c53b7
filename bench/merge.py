"""Which merges of JSON memory come out right, which are refused, and which are wrong in silence?

Asked of random merges of ``tools.json`` (``merge_cases.py``) and of merges that people had
(``../shared/data/merges`` where it is there, else the few in ``tests/data``). Beside it: Git's
own merge, Git's union driver, and the npm packages git-json-merge and trimerge, which are put
under the bench's folder and need the npm registry. A try-out leaves those two out.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memrepo.semmerge.file import merge_file

from . import measure
from .merge_cases import cases, judge

PEERS = Path(__file__).parent / "peers"
SEED = 1
VERDICTS = ("right clean", "right conflict", "false conflict", "silently wrong")
_TOOLS, _REAL = "state/helper/tools.json", "records/causal-graph.json"


class Outcome(NamedTuple):
    """What a merge gave: a text, or None for a conflict, at ``places`` where it names them."""

    text: bytes | None
    places: set[str] | None = None


class Triple(NamedTuple):
    """Three texts of one file, and what an outcome for them is worth."""

    path: str
    base: bytes
    ours: bytes
    theirs: bytes
    judged: Callable[[Outcome], str]


Engine = Callable[[Sequence[Triple]], list[Outcome]]


def random_triples(count: int) -> list[Triple]:
    """Made-up merges of ``tools.json``."""
    triples = []
    for case in cases(count, SEED):

        def judged(outcome: Outcome, case: Any = case) -> str:
            value = None if outcome.text is None else _json(outcome.text)
            wrong = outcome.text is not None and not isinstance(value, list)
            return "silently wrong" if wrong else judge(case, value, outcome.places)

        base, mine, other = map(_text, (case.base, case.ours, case.theirs))
        triples.append(Triple(_TOOLS, base, mine, other, judged))
    return triples


def real_triples(most: int) -> list[Triple]:
    """Merges that people had of one agent's memory."""
    given = os.environ.get("MEMREPO_REAL_DATA")
    large = Path(given) if given else measure.ROOT.parent / "shared" / "data"
    folder = next(f for f in (large / "merges", measure.ROOT / "tests/data/merges") if f.is_dir())
    triples = []
    for case in sorted(path for path in folder.iterdir() if path.is_dir())[:most]:
        expected = json.loads((case / "expected.json").read_bytes())
        places = {place.replace("[", "").replace("]", "") for place, _ in expected["conflicts"]}
        merged = case / "merged.json.gz"
        wanted = _sorted(_json(_unpacked(merged))) if merged.exists() else None

        def judged(outcome: Outcome, places: set[str] = places, wanted: Any = wanted) -> str:
            if outcome.text is None:
                right = wanted is None and outcome.places in (None, places)
                return "right conflict" if right else "false conflict"
            right = wanted is not None and _sorted(_json(outcome.text)) == wanted
            return "right clean" if right else "silently wrong"

        base, mine, other = (_unpacked(case / f"{s}.json.gz") for s in ("base", "ours", "theirs"))
        triples.append(Triple(_REAL, base, mine, other, judged))
    return triples


def _text(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _json(text: bytes) -> Any:
    """The value of a text, or what equals no JSON value where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return ...


def _sorted(value: Any) -> Any:
    """A value whose arrays are sorted: in the real merges the order of entries is not judged."""
    if isinstance(value, dict):
        return {key: _sorted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=lambda part: json.dumps(part, sort_keys=True))
    return value


def ours(triples: Sequence[Triple]) -> list[Outcome]:
    """memrepo's merge, in process."""
    outcomes = []
    for triple in triples:
        merged = merge_file(triple.path, triple.base, triple.ours, triple.theirs)
        places = {conflict.pointer for conflict in merged.conflicts}
        outcomes.append(Outcome(merged.data, places or None))
    return outcomes


class WithGit:
    """Git's own merge of the same texts, in a bare repository with a branch for each."""

    def __init__(self, repo: Path, triples: Sequence[Triple]) -> None:
        self._repo = repo
        self._count = len(triples)
        repo.mkdir()
        measure.git(repo, "init", "--quiet", "--bare")
        stream = bytearray()
        for number, triple in enumerate(triples):
            for side, text, start in (
                ("base", triple.base, ""),
                ("ours", triple.ours, f"from refs/heads/base/{number}\n"),
                ("theirs", triple.theirs, f"from refs/heads/base/{number}\n"),
            ):
                head = f"commit refs/heads/{side}/{number}\ncommitter B <b@example.org> 0 +0000\n"
                stream += f"{head}data 1\nx\n{start}M 100644 inline file.json\n".encode()
                stream += b"data %d\n%b\n" % (len(text), text)
        command = ["git", "fast-import", "--quiet"]
        subprocess.run(command, cwd=repo, input=bytes(stream), check=True)

    def merge(self, attributes: str = "") -> list[Outcome]:
        """The outcomes under these attributes, as a bare repository reads them."""
        (self._repo / "info" / "attributes").write_text(attributes, encoding="utf-8")
        outcomes = []
        for number in range(self._count):
            sides = (f"ours/{number}", f"theirs/{number}")
            command = ("git", "merge-tree", "--write-tree", *sides)
            tree, *more = measure.call(*command, cwd=self._repo, accept=(0, 1)).split(b"\n", 1)
            clean = not b"".join(more).strip()
            name = f"{tree.decode()}:file.json"
            text = measure.git(self._repo, "cat-file", "blob", name) if clean else None
            outcomes.append(Outcome(text))
        return outcomes


def node_peers(folder: Path) -> dict[str, Engine]:
    """The packages of the lock file beside ``merge.cjs``, put into ``folder``."""
    for name in ("package.json", "package-lock.json", "merge.cjs"):
        (folder / name).write_bytes((PEERS / name).read_bytes())
    measure.say("putting git-json-merge and trimerge under the bench's folder")
    measure.call("npm", "ci", "--silent", "--ignore-scripts", "--no-audit", cwd=folder)
    answers: dict[int, list[dict[str, str | None]]] = {}

    def ask(name: str, triples: Sequence[Triple]) -> list[Outcome]:
        if id(triples) not in answers:
            answers[id(triples)] = _answers(folder, triples)
        texts = [answer[name] for answer in answers[id(triples)]]
        return [Outcome(None if text is None else text.encode()) for text in texts]

    return {
        "git-json-merge": lambda triples: ask("git-json-merge", triples),
        "trimerge": lambda triples: ask("trimerge", triples),
    }


def _answers(folder: Path, triples: Sequence[Triple]) -> list[dict[str, str | None]]:
    lines = [
        json.dumps({"base": t.base.decode(), "ours": t.ours.decode(), "theirs": t.theirs.decode()})
        for t in triples
    ]
    done = subprocess.run(
        ["node", "merge.cjs"],
        cwd=folder,
        input="\n".join(lines).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _tally(triples: Sequence[Triple], outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(t.judged(outcome) for t, outcome in zip(triples, outcomes, strict=True))


def _numbers(tally: Mapping[str, int]) -> str:
    return " / ".join(str(tally.get(verdict, 0)) for verdict in VERDICTS)


def question(bench: measure.Bench) -> list[measure.Row]:
    """A row for each engine and kind of merge, and how long one of ours takes."""
    engines: dict[str, Engine] = {}
    if not bench.small:
        folder = bench.folder / "peers"
        folder.mkdir()
        engines = node_peers(folder)
    rows = []
    kinds = {
        "random merges of tools.json": random_triples(bench.size(600, 12)),
        "merges that people had": real_triples(bench.size(1_000, 2)),
    }
    for number, (kind, triples) in enumerate(kinds.items()):
        measure.say(f"{len(triples)} {kind}")
        with_git = WithGit(bench.folder / f"merges-{number}.git", triples)
        outcomes = {"git": with_git.merge(), "git, merge=union": with_git.merge("* merge=union\n")}
        outcomes |= {name: engine(triples) for name, engine in engines.items()}
        mine = _tally(triples, ours(triples))
        wrong = mine["false conflict"] + mine["silently wrong"]
        case = f"{len(triples)} {kind}: " + " / ".join(VERDICTS)
        for place, (name, found) in enumerate(outcomes.items()):
            words = (_numbers(mine), f"{name}: {_numbers(_tally(triples, found))}")
            goal = ("0 false, 0 silently wrong", wrong == 0) if place == 0 else ("", None)
            rows.append(measure.Row("merge", case, *words, f"{wrong} wrong", *goal))
    return [*rows, _speed(kinds["random merges of tools.json"], bench.times(5))]


def _speed(triples: Sequence[Triple], rounds: int) -> measure.Row:
    best = min(_seconds(triples) for _ in range(rounds))
    each = best / len(triples) * 1e3
    size = sum(len(triple.ours) for triple in triples) / len(triples) / 1e3
    case = f"one tools.json of {size:.1f} kB that both sides changed"
    return measure.amount("merge", case, "merge_file", each, "ms of CPU", at_most=0.3)


def _seconds(triples: Sequence[Triple]) -> float:
    began = time.process_time()
    ours(triples)
    return time.process_time() - began


if __name__ == "__main__":
    measure.main(question)
