"""What does it cost to pack old snapshots, to check and restore them, and to prune the tree?

Beside it: ``tar -czf`` over a checkout, Python's tarfile, ``git rm``. Time is that of the
processor, with all processes that take part. The snapshots are of two kinds: each with new
text, and those of agents that go on, which Git keeps as deltas and gzip shrinks further.
"""

from __future__ import annotations

import random
import sys
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from memrepo.archive.collect import collect
from memrepo.gitrepo.blobstream import stream_blobs
from memrepo.gitrepo.prune import commit_tree, remove_unchanged
from memrepo.gitrepo.putback import put_back
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.documents import AgentState
from memrepo.shards.gz import library
from memrepo.shards.pack import pack
from memrepo.shards.path import snapshot_path
from memrepo.shards.plan import asset_name, plan_shards
from memrepo.shards.read import check_shard, read_shard
from memrepo.shards.table import table_of
from memrepo.shards.values import Packed, Plan, Shard

from . import corpus, measure

# What a job does, as a process of its own, so that its memory is its own.
_PACK = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memrepo.archive.collect import collect
from memrepo.archive.stage import pack_shards, write_manifest
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.documents import AgentState
from memrepo.shards.manifest import manifest_of
from memrepo.shards.path import snapshot_path
from memrepo.shards.plan import plan_shards

before, folder = datetime.fromtimestamp(int(sys.argv[2]), UTC), Path(sys.argv[3])
with Repository.open(Path(sys.argv[1])) as repo:
    commit = repo.resolve("main")
    snapshots = collect(repo, commit, before=before, remote=None)
    plan = plan_shards(snapshots, commit=commit, before=before)
    del snapshots
    packed = [one.packed for one in pack_shards(repo, plan, folder, "history", lambda *_: None)]
    write_manifest(manifest_of(plan, packed), folder)
"""


class _Stage:
    """One repository of old snapshots, and what is made of it."""

    def __init__(self, bench: measure.Bench, kind: str, made: corpus.Corpus) -> None:
        self.folder = bench.folder / kind
        self.folder.mkdir()
        self.kind = kind
        self.count = bench.size(50_000, 60)
        self.bare = self.folder / "memory.git"
        self.end = corpus.fill(self.bare, made, snapshots=self.count)
        self.checkout = corpus.check_out(self.bare, self.folder / "checkout")
        self.repo = Repository.open(self.bare)
        self.tip = self.repo.resolve("main")
        self.plan = self.plan_before(self.end)
        self.bytes = sum(one.size for shard in self.plan.shards for one in shard.snapshots)
        self.packed: dict[str, Packed] = {}

    def plan_before(self, when: int) -> Plan:
        before = datetime.fromtimestamp(when, UTC)
        snapshots = collect(self.repo, self.tip, before=before, remote=None)
        return plan_shards(snapshots, commit=self.tip, before=before)

    def asset(self, shard: Shard) -> Path:
        return self.folder / asset_name(shard.name)

    def pack(self) -> None:
        """Every shard of the plan, from Git's objects to its asset."""
        for shard in self.plan.shards:
            found = table_of(shard.snapshots)
            stream = stream_blobs(self.repo, found.blobs(), found.sizes())
            contents = zip(found, stream, strict=True)
            with self.asset(shard).open("wb") as out:
                packed = pack(shard, contents, out, self.asset(shard).name)
            self.packed[shard.name] = packed

    def verify(self) -> None:
        """Every member's blob id against the plan, and both hashes of every shard."""
        for shard in self.plan.shards:
            packed = self.packed[shard.name]
            with self.asset(shard).open("rb") as file:
                check_shard(
                    file, shard.snapshots, sha256=packed.sha256, tar_sha256=packed.tar_sha256
                )

    def restore(self, number: int) -> Callable[[], object]:
        """Everything onto a branch of an empty repository, checked first."""
        target = self.folder / f"restored-{number}.git"
        measure.git(self.folder, "init", "--quiet", "--bare", target.name)

        def run() -> None:
            self.verify()
            with Repository.open(target) as repo:
                put_back(repo, self._members(), "archive: bring back", branch="back")

        return run

    def _members(self) -> Iterator[tuple[str, bytes]]:
        for shard in self.plan.shards:
            with self.asset(shard).open("rb") as file:
                yield from read_shard(file)

    def by_tar(self) -> None:
        """What a script does: everything in one file, from a checkout."""
        out = str(self.folder / "usual.tar.gz")
        measure.call("tar", "-czf", out, "history", cwd=self.checkout)

    def by_clone(self, number: int) -> Callable[[], object]:
        """The checkout that the script needs and memrepo does not."""
        into = str(self.folder / f"clone-{number}")
        return lambda: measure.git(self.bare, "clone", "--quiet", "--shared", ".", into)

    def by_tarfile(self) -> None:
        """The same in Python, with the defaults of its library."""
        with tarfile.open(self.folder / "python.tar.gz", "w:gz") as tar:
            tar.add(self.checkout / "history", "history")


class _NewText(corpus.Corpus):
    """Agents that talk of something else in every cycle, in many words."""

    def __init__(self, agents: int, turns: int) -> None:
        rare = random.Random(2)
        letters = "etaoinshrdlucmfwypvbgkqjxz"
        weights = range(len(letters), 0, -1)
        self._words = [
            "".join(rare.choices(letters, weights, k=rare.randint(3, 11))) for _ in range(20_000)
        ]
        super().__init__(agents, turns=turns, tools=1)

    def sentence(self, least: int = 8, most: int = 24) -> str:
        """Some words of twenty thousand."""
        words = self._random.choices(self._words, k=self._random.randint(least, most))
        return " ".join(words).capitalize() + "."

    def cycle(self, agent: int, when: int) -> AgentState:
        """Nothing is left of what was said before."""
        old = self.states[agent]
        said = [self.turn(number, when) for number in range(len(old.context))]
        self.states[agent] = AgentState(said, old.tools, old.metadata)
        return self.states[agent]


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for packing, checking and restoring, for memory, and for pruning."""
    rows = []
    stages = (
        _Stage(bench, "new text", _NewText(40, turns=6)),
        _Stage(bench, "going on", corpus.Corpus(40, turns=4, tools=2)),
    )
    for stage in stages:
        rows += _packing(bench, stage)
    rows += [*_memory(bench, stages[0]), *_pruning(stages[0])]
    for stage in stages:
        stage.repo.close()
    return rows


def _packing(bench: measure.Bench, stage: _Stage) -> list[measure.Row]:
    ways: dict[str, measure.Way] = {
        "plan": measure.always(lambda: stage.plan_before(stage.end)),
        "pack": measure.always(stage.pack),
        "verify": measure.always(stage.verify),
        "clone": stage.by_clone,
        "tar": measure.always(stage.by_tar),
        "tarfile": measure.always(stage.by_tarfile),
        "restore": stage.restore,
    }
    stage.pack()
    taken = measure.take_turns(ways, bench.times(3), clock=measure.cpu_seconds)
    size = sum(packed.size for packed in stage.packed.values()) / 1e6
    usual = (stage.folder / "usual.tar.gz").stat().st_size / 1e6
    case = f"{stage.count:,} snapshots, {stage.bytes / 1e6:.3g} MB, {stage.kind}, {library()}: CPU"
    ours = ("pack", taken["pack"])
    restored = median(taken["restore"])
    both = [clone + tar for clone, tar in zip(taken["clone"], taken["tar"], strict=True)]
    whole = [plan + pack for plan, pack in zip(taken["plan"], taken["pack"], strict=True)]
    return [
        measure.share("archive", case, ours, ("tar -czf", taken["tar"]), at_most=0.45),
        measure.share("archive", case, ours, ("tarfile", taken["tarfile"]), at_most=0.15),
        measure.share("archive", case, ("plan and pack", whole), ("git clone, tar -czf", both)),
        measure.share("archive", case, ("deep verify", taken["verify"]), ours, at_most=1),
        measure.amount(
            "archive", case, "verify, then restore to a branch", restored, "s", at_most=3
        ),
        measure.amount(
            "archive", case, "size of the assets", size, "MB", other=f"tar -czf: {usual:.3g} MB"
        ),
    ]


def _memory(bench: measure.Bench, stage: _Stage) -> list[measure.Row]:
    many = bench.size(500_000, 200)
    large = bench.folder / "large.git"
    rows = []
    for repo, count in ((stage.bare, stage.count), (large, many)):
        if repo == large:
            _fill_small(large, many)
        out = bench.folder / f"packed-{count}"
        out.mkdir()
        before = str(corpus.BEGIN + count * corpus.STEP)
        command = (sys.executable, "-c", _PACK, str(repo), before, str(out))
        _, peak = measure.watch(*command, cwd=bench.folder)
        case = f"{count:,} snapshots: peak of the whole process, or of Git's"
        rows.append(
            measure.amount("archive", case, "plan, pack, read back", peak, "MB", at_most=80)
        )
    return rows


def _fill_small(repo: Path, snapshots: int) -> None:
    """Many snapshots of a hundred bytes: memory goes by their number. fast-import is slow in
    a folder of half a million, so the layout is daily."""
    measure.say(f"making {repo.name}: {snapshots:,} snapshots")
    repo.mkdir()
    measure.git(repo, "init", "--quiet", "--bare")
    with corpus.Import(repo) as stream:
        stream.commit("main", corpus.BEGIN, "begin", _small(snapshots))


def _small(snapshots: int) -> Iterator[tuple[str, bytes]]:
    for number in range(snapshots):
        when = corpus.BEGIN + number * corpus.STEP
        path = snapshot_path(when, f"agent-{number % 40:05d}", daily=True)
        yield path, b'{"made up": "%080d"}\n' % number


def _pruning(stage: _Stage) -> list[measure.Row]:
    due = stage.count * 4 // 5
    plan = stage.plan_before(corpus.BEGIN + due * corpus.STEP)
    wanted = {one.path: one.blob for shard in plan.shards for one in shard.snapshots}
    paths = "".join(f"{path}\0" for path in wanted)
    listed = stage.folder / "paths"
    listed.write_text(paths, encoding="utf-8")
    trees: set[str] = set()

    def ours() -> None:
        view = stage.repo.view(stage.tip)
        pruned = remove_unchanged(stage.repo, view, wanted)
        commit_tree(stage.repo, pruned.root, [stage.tip], "archive")
        trees.add(pruned.root.hex())

    def by_git(_: int) -> Callable[[], object]:
        measure.git(stage.checkout, "reset", "--quiet", "--hard", stage.tip)

        def run() -> None:
            measure.call("xargs", "-0", "-a", str(listed), "git", "rm", "-q", cwd=stage.checkout)
            measure.git(stage.checkout, "commit", "--quiet", "--message", "archive")
            trees.add(measure.git(stage.checkout, "rev-parse", "HEAD^{tree}").decode().strip())

        return run

    ways: dict[str, measure.Way] = {"ours": measure.always(ours), "git": by_git}
    taken = measure.take_turns(ways, 1, warm=0, clock=measure.cpu_seconds)
    if len(trees) != 1:
        raise SystemExit("the ways that are compared made different trees")
    case = f"{len(wanted):,} of {stage.count:,} paths, flat: CPU"
    git = ("xargs git rm, git commit", taken["git"])
    return [measure.faster("archive", case, ("prune", taken["ours"]), git, at_least=50)]


if __name__ == "__main__":
    measure.main(question)
