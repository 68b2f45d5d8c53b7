"""The same history in Git and in the emulator.

The emulator hashes as Git does, so that what is carried over by its API keeps its names, and
comparisons, contents and pull requests of the one are true of the other.
"""

from __future__ import annotations

import base64
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec

from rig.emulator import Emulator, token_of
from rig.tools import git, git_line

_KINDS = ("heads", "tags", "pull")
_TYPES = {"40000": "tree", "160000": "commit"}


class Object(msgspec.Struct, frozen=True):
    """A Git object."""

    sha: str
    kind: str
    data: bytes


class Carried(msgspec.Struct):
    """What of a repository the emulator has: ids of objects, and commits with all below them."""

    objects: set[str] = msgspec.field(default_factory=set)
    commits: set[str] = msgspec.field(default_factory=set)


class Mirror:
    """Carries objects and refs between bare repositories under ``root`` and the emulator.

    ``apart`` are repositories whose Git the emulator is not to have, being too large for it.
    """

    def __init__(self, emulator: Emulator, root: Path) -> None:
        self._emulator = emulator
        self._root = root
        self._carried: dict[str, Carried] = {}
        self.apart: set[str] = set()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget what was carried."""
        self._carried.clear()
        self.apart.clear()

    def to_emulator(self, repo: str) -> None:
        """Give the emulator what the bare repository has, and take away refs that it lost."""
        if repo in self.apart:
            return
        with self._lock:
            bare, carried = self._root / f"{repo}.git", self._carried.setdefault(repo, Carried())
            refs = _refs(bare, *(f"refs/{kind}" for kind in _KINDS))
            for item in _new_objects(bare, set(refs.values()), carried):
                self._give(repo, item)
                carried.objects.add(item.sha)
            carried.commits |= set(refs.values())
            there = self._refs(repo)
            for ref, sha in refs.items():
                if ref not in there:
                    self._ask("POST", repo, "refs", {"ref": ref, "sha": sha})
                elif there[ref] != sha:
                    self._ask("PATCH", repo, f"refs/{ref[5:]}", {"sha": sha, "force": True})
            for ref in there.keys() - refs.keys():
                self._ask("DELETE", repo, f"refs/{ref[5:]}")

    def to_git(self, repo: str) -> None:
        """Give the bare repository what was committed through the API."""
        with self._lock:
            bare = self._root / f"{repo}.git"
            here, there = _refs(bare, "refs/heads", "refs/tags"), self._refs(repo)
            for ref, sha in there.items():
                is_new = ref not in here and not ref.startswith("refs/pull/")
                if is_new or (ref.startswith("refs/heads/") and here[ref] != sha):
                    self._take_commit(repo, bare, sha)
                    git(bare, "update-ref", ref, sha)
            for ref in here.keys() - there.keys():
                git(bare, "update-ref", "-d", ref)

    def _ask(self, method: str, repo: str, path: str, body: object = None) -> Any:
        answer = self._emulator.ask(
            method, f"/repos/{repo}/git/{path}", token_of(repo.split("/")[0]), body
        )
        assert answer.status < 300, (method, path, answer.status, answer.body[:300])
        return answer.json() if answer.body else None

    def _refs(self, repo: str) -> dict[str, str]:
        found = {}
        for kind in _KINDS:
            for row in self._ask("GET", repo, f"matching-refs/{kind}"):
                found[row["ref"]] = row["object"]["sha"]
        return found

    def _give(self, repo: str, item: Object) -> None:
        if item.kind == "blob":
            content = base64.b64encode(item.data).decode()
            body: dict[str, object] = {"content": content, "encoding": "base64"}
        elif item.kind == "tree":
            body = {"tree": _tree_entries(item.data)}
        else:
            body = _commit_fields(item.data)
        got = self._ask("POST", repo, f"{item.kind}s", body)["sha"]
        assert got == item.sha, f"{item.kind} {item.sha} became {got} in the emulator"

    def _take_commit(self, repo: str, bare: Path, sha: str) -> None:
        if _has(bare, sha):
            return
        commit = self._ask("GET", repo, f"commits/{sha}")
        for parent in commit["parents"]:
            self._take_commit(repo, bare, parent["sha"])
        self._take_tree(repo, bare, commit["tree"]["sha"])
        head = [f"tree {commit['tree']['sha']}"]
        head += [f"parent {parent['sha']}" for parent in commit["parents"]]
        head += [f"{role} {_signature(commit[role])}" for role in ("author", "committer")]
        data = "\n".join([*head, "", commit["message"]]).encode()
        _store(bare, "commit", data, sha)

    def _take_tree(self, repo: str, bare: Path, sha: str) -> None:
        if _has(bare, sha):
            return
        rows = self._ask("GET", repo, f"trees/{sha}")["tree"]
        for row in rows:
            if row["type"] == "tree":
                self._take_tree(repo, bare, row["sha"])
            elif row["type"] == "blob" and not _has(bare, row["sha"]):
                blob = self._ask("GET", repo, f"blobs/{row['sha']}")
                _store(bare, "blob", base64.b64decode(blob["content"]), row["sha"])
        lines = [f"{row['mode']} {row['type']} {row['sha']}\t{row['path']}\0" for row in rows]
        made = git(bare, "mktree", "-z", text="".join(lines).encode()).decode().strip()
        assert made == sha, f"tree {sha} became {made} in Git"


def _refs(bare: Path, *prefixes: str) -> dict[str, str]:
    """The commit that each ref names, be it through a tag."""
    shape = "--format=%(refname) %(objectname) %(*objectname)"
    rows = [line.split() for line in git_line(bare, "for-each-ref", shape, *prefixes).splitlines()]
    return {row[0]: row[-1] for row in rows}


def _new_objects(bare: Path, tips: set[str], carried: Carried) -> list[Object]:
    """What is reachable and not yet carried, each after all that it points at."""
    if tips <= carried.commits:
        return []
    wanted = "\n".join([*tips, *(f"^{sha}" for sha in carried.commits)]).encode()
    lines = git(bare, "rev-list", "--objects", "--topo-order", "--reverse", "--stdin", text=wanted)
    names = [line.split(" ", 1)[0] for line in lines.decode().splitlines()]
    found = {
        item.sha: item
        for item in _read(bare, [name for name in names if name not in carried.objects])
    }
    trees: dict[str, Object] = {}

    def add(tree: Object) -> None:
        for entry in _tree_entries(tree.data):
            below = found.get(str(entry["sha"]))
            if below and below.kind == "tree" and below.sha not in trees:
                add(below)
        trees[tree.sha] = tree

    for item in found.values():
        if item.kind == "tree" and item.sha not in trees:
            add(item)
    blobs = [item for item in found.values() if item.kind == "blob"]
    commits = [item for item in found.values() if item.kind == "commit"]
    return [*blobs, *trees.values(), *commits]


def _read(bare: Path, names: list[str]) -> list[Object]:
    data = git(bare, "cat-file", "--batch", text="\n".join(names).encode())
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        sha, kind, size = data[at:end].decode().split()
        found.append(Object(sha, kind, data[end + 1 : end + 1 + int(size)]))
        at = end + 2 + int(size)
    return found


def _tree_entries(data: bytes) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, path = data[at:end].decode().split(" ", 1)
        entries.append(
            {
                "path": path,
                "mode": mode.zfill(6),
                "type": _TYPES.get(mode, "blob"),
                "sha": data[end + 1 : end + 21].hex(),
            }
        )
        at = end + 21
    return entries


def _commit_fields(data: bytes) -> dict[str, object]:
    head, _, message = data.decode().partition("\n\n")
    rows = [line.split(" ", 1) for line in head.splitlines()]
    fields: dict[str, object] = {
        "message": message,
        "parents": [value for name, value in rows if name == "parent"],
    }
    for name, value in rows:
        if name == "tree":
            fields[name] = value
        elif name in ("author", "committer"):
            person, seconds, zone = value.rsplit(" ", 2)
            who, _, mail = person.partition(" <")
            shift = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
            date = datetime.fromtimestamp(int(seconds), timezone(shift)).isoformat()
            fields[name] = {"name": who, "email": mail.rstrip(">"), "date": date}
    return fields


def _signature(person: dict[str, str]) -> str:
    date = datetime.fromisoformat(person["date"])
    return f"{person['name']} <{person['email']}> {int(date.timestamp())} {date:%z}"


def _has(bare: Path, sha: str) -> bool:
    return git_line(bare, "cat-file", "-t", sha, check=False) != ""


def _store(bare: Path, kind: str, data: bytes, sha: str) -> None:
    made = git(bare, "hash-object", "-t", kind, "-w", "--stdin", text=data).decode().strip()
    assert made == sha, f"{kind} {sha} became {made} in Git"
