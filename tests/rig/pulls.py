"""Pull requests as Git has them: where their head and their merge commit are, what they change.

The emulator keeps a pull request's head as it was at its creation, makes up its files, takes a
second one for the same branch, and makes a branch that is not there. The box asks here instead.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import msgspec

from rig.emulator import Emulator, token_of
from rig.tools import git, git_line

Json = dict[str, Any]

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}
_GITHUB = ("-c", "user.name=GitHub", "-c", "user.email=noreply@github.com")


class PullRefs(msgspec.Struct):
    """A pull request's two ends, where its base was when its head last moved, and the commits
    that ``refs/pull/N/merge`` was made of."""

    head_repo: str
    head: str
    base: str
    base_sha: str = ""
    merged: tuple[str, str] = ("", "")


class Pulls:
    """Keeps ``refs/pull/N/head`` and ``refs/pull/N/merge`` of all repositories under ``root``."""

    def __init__(self, emulator: Emulator, root: Path) -> None:
        self._emulator = emulator
        self._root = root
        self._known: dict[tuple[str, int], PullRefs] = {}
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget all."""
        self._known.clear()

    def refusal(self, repo: str, wanted: Json) -> Json | None:
        """GitHub's reason not to open this pull request, or None when it would."""
        head_repo, head = self._head(repo, str(wanted.get("head", "")))
        base = str(wanted.get("base", ""))
        tips = {"head": self._tip(head_repo, head), "base": self._tip(repo, base)}
        for field, tip in tips.items():
            if not tip:
                return {"resource": "PullRequest", "field": field, "code": "invalid"}
        for (where, number), pull in self._known.items():
            ends = (where, pull.head_repo, pull.head, pull.base)
            if ends == (repo, head_repo, head, base) and self._is_open(repo, number):
                owner = head_repo.split("/")[0]
                return _refused(f"A pull request already exists for {owner}:{head}.")
        self._fetch(repo, head_repo, tips["head"])
        span = f"{tips['base']}..{tips['head']}"
        if git_line(self._bare(repo), "rev-list", "--max-count=1", span) == "":
            return _refused(f"No commits between {base} and {head}")
        return None

    def opened(self, repo: str, pull: Json) -> None:
        """Remember a pull request of ``repo`` (GitHub's JSON) and write its refs."""
        refs = PullRefs(pull["head"]["repo"]["full_name"], pull["head"]["ref"], pull["base"]["ref"])
        with self._lock:
            self._known[repo, pull["number"]] = refs
            self._refresh(repo, pull["number"], refs)

    def pushed(self, repo: str) -> set[str]:
        """Let open pull requests follow a push to ``repo``; answers whose refs may have moved."""
        touched = set()
        with self._lock:
            for (where, number), refs in self._known.items():
                if repo in (where, refs.head_repo) and self._is_open(where, number):
                    self._refresh(where, number, refs)
                    touched.add(where)
        return touched

    def mend(self, repo: str, pull: Json) -> Json:
        """GitHub's JSON of a pull request with what Git knows better."""
        refs = self._known.get((repo, pull["number"]))
        if refs is None:
            return pull
        bare = self._bare(repo)
        pull["head"]["sha"] = head = git_line(bare, "rev-parse", f"refs/pull/{pull['number']}/head")
        pull["base"]["sha"] = refs.base_sha
        pull["statuses_url"] = pull["statuses_url"].rpartition("/")[0] + f"/{head}"
        pull["_links"]["statuses"]["href"] = pull["statuses_url"]
        if pull["state"] == "open":
            merge = git_line(
                bare, "rev-parse", "-q", "--verify", self._merge_ref(pull), check=False
            )
            pull["merge_commit_sha"] = merge or None
            if "mergeable" in pull:
                pull["mergeable"] = bool(merge)
                pull["mergeable_state"] = "clean" if merge else "dirty"
                pull["rebaseable"] = bool(merge)
        if "changed_files" in pull:
            files = self.files(repo, pull)
            pull["changed_files"] = len(files)
            for name in ("additions", "deletions"):
                pull[name] = sum(row[name] for row in files)
            span = f"{refs.base_sha}..{head}"
            pull["commits"] = int(git_line(bare, "rev-list", "--count", span))
        return pull

    def files(self, repo: str, pull: Json) -> list[Json]:
        """The files that a (mended) pull request changes, as GitHub lists them."""
        bare, head = self._bare(repo), pull["head"]["sha"]
        span = f"{pull['base']['sha']}...{head}"
        raw = git(bare, "diff", "--raw", "--no-abbrev", "-z", "-M", span).decode().split("\0")
        text = git(bare, "diff", "-M", "--no-color", span).decode(errors="replace")
        patches = f"\n{text}".split("\ndiff --git ")[1:]
        rows: list[Json] = []
        while len(raw) > 1:
            _, _, old, new, kind = raw.pop(0).split(" ")
            previous = raw.pop(0)
            name = raw.pop(0) if kind[0] == "R" else previous
            hunks = patches[len(rows)].partition("\n@@")
            patch = f"@@{hunks[2]}".rstrip("\n") if hunks[1] else ""
            added, removed = (
                sum(line.startswith(sign) for line in patch.split("\n")) for sign in "+-"
            )
            pages = pull["head"]["repo"]["html_url"]
            rows.append(
                {
                    "sha": old if kind[0] == "D" else new,
                    "filename": name,
                    "status": _STATUS[kind[0]],
                    "additions": added,
                    "deletions": removed,
                    "changes": added + removed,
                    "blob_url": f"{pages}/blob/{head}/{name}",
                    "raw_url": f"{pages}/raw/{head}/{name}",
                    "contents_url": f"{pull['head']['repo']['url']}/contents/{name}?ref={head}",
                    **({"patch": patch} if patch else {}),
                    **({"previous_filename": previous} if kind[0] == "R" else {}),
                }
            )
        return rows

    def _refresh(self, repo: str, number: int, refs: PullRefs) -> None:
        bare = self._bare(repo)
        head, base = self._tip(refs.head_repo, refs.head), self._tip(repo, refs.base)
        if not head or not base:
            return
        self._fetch(repo, refs.head_repo, head)
        place = f"refs/pull/{number}"
        if head != git_line(bare, "rev-parse", "-q", "--verify", f"{place}/head", check=False):
            git(bare, "update-ref", f"{place}/head", head)
            refs.base_sha = base
        if refs.merged == (head, base):
            return
        refs.merged = (head, base)
        # A clean merge prints its tree and nothing else.
        lines = git_line(bare, "merge-tree", "--write-tree", base, head, check=False).splitlines()
        if len(lines) == 1:
            say = ("-p", base, "-p", head, "-m", f"Merge {head} into {base}")
            merge = git_line(bare, *_GITHUB, "commit-tree", lines[0], *say)
            git(bare, "update-ref", f"{place}/merge", merge)
        else:
            git(bare, "update-ref", "-d", f"{place}/merge")

    def _head(self, repo: str, head: str) -> tuple[str, str]:
        owner, colon, branch = head.partition(":")
        return (f"{owner}/{repo.split('/')[1]}", branch) if colon else (repo, head)

    def _fetch(self, repo: str, head_repo: str, head: str) -> None:
        if head_repo != repo:
            git(self._bare(repo), "fetch", "--quiet", str(self._bare(head_repo)), head)

    def _tip(self, repo: str, branch: str) -> str:
        bare, ref = self._bare(repo), f"refs/heads/{branch}"
        return (
            git_line(bare, "rev-parse", "-q", "--verify", ref, check=False) if bare.is_dir() else ""
        )

    def _is_open(self, repo: str, number: int) -> bool:
        token = token_of(repo.split("/")[0])
        answer = self._emulator.ask("GET", f"/repos/{repo}/pulls/{number}", token)
        return answer.status == 200 and answer.json()["state"] == "open"

    def _bare(self, repo: str) -> Path:
        return self._root / f"{repo}.git"

    @staticmethod
    def _merge_ref(pull: Json) -> str:
        return f"refs/pull/{pull['number']}/merge"


def _refused(message: str) -> Json:
    return {"resource": "PullRequest", "code": "custom", "message": message}
