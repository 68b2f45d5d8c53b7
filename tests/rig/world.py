"""One GitHub with people, repositories, forks, pull requests, tokens, and a runner of workflows."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from repositories import GitRepo, new_repo
from rig import act, events
from rig.act import Run
from rig.box import Box
from rig.client import send
from rig.emulator import token_of
from rig.events import Pull
from rig.exchange import FROM_TEST
from rig.tools import TOOL_CACHE, git, git_line

Json = dict[str, Any]

# Who there is: an owner, one who may write to the owner's repositories, and two strangers.
USERS = ("acme", "alice", "forker", "mallory")
_BARE_SETTINGS = {
    "http.receivepack": "true",
    "receive.hideRefs": "refs/pull",
    "uploadpack.allowAnySHA1InWant": "true",
    "uploadpack.allowFilter": "true",
}


class Refused(Exception):
    """A request of a test that the API did not answer with success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class World:
    """Everything that a test of an action stands on. ``folder`` is emptied by ``reset``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.box = Box(folder, USERS)
        self.url = self.box.url
        self.project = act.copy_of_checkout(folder / "project")
        self._numbers = itertools.count(int(time.time()))

    def reset(self) -> None:
        """No repositories, tokens, faults or requests any more: as new, without a new start."""
        self.box.reset()
        for name in ("git", "work", "runs", "artifacts"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.box.root.mkdir()

    def close(self) -> None:
        """End all processes."""
        self.box.close()

    def repo(
        self,
        name: str = "acme/demo",
        *agents: str,
        files: Mapping[str, str | bytes] | None = None,
        source: Path | None = None,
        private: bool = False,
    ) -> GitRepo:
        """Make a repository with one commit on main, and answer its owner's clone of it.

        It holds the files of the folder ``source``, ``files``, and, with ``agents``, a memory
        repo's folders with these agents in them.
        """
        owner, short = name.split("/")
        self.api("POST", "/user/repos", owner, {"name": short, "private": private})
        if owner != "alice":
            self.api("PUT", f"/repos/{name}/collaborators/alice", owner, {"permission": "push"})
        if private:
            self.box.private.add(name)
        self._make_bare(name)
        work = new_repo(self.folder / "work" / name)
        git(work.path, "remote", "add", "origin", f"{self.url}/{name}")
        self._sign_in(work, owner)
        if source:
            shutil.copytree(source, work.path, dirs_exist_ok=True)
        content: dict[str, str | bytes] = {**(files or {})}
        if agents:
            content |= {"state/.gitkeep": "", "history/.gitkeep": ""}
        for path, text in content.items():
            work.write(path, text)
        for agent_id in agents:
            work.write_agent(agent_id)
        work.commit("begin")
        self.push(work, "main")
        return work

    def fork(self, user: str, repo: str = "acme/demo") -> GitRepo:
        """Fork a repository as ``user``, and answer that person's clone of the fork."""
        self.api("POST", f"/repos/{repo}/forks", user, {})
        name = f"{user}/{repo.split('/')[1]}"
        self._make_bare(name)
        git(
            self.bare(name).path,
            "fetch",
            "-q",
            str(self.bare(repo).path),
            "+refs/heads/*:refs/heads/*",
        )
        self.box.mirror.to_emulator(name)
        return self.clone(name, user)

    def clone(self, repo: str, user: str, *, name: str = "") -> GitRepo:
        """A clone of ``repo`` in which ``user`` works and may push as the API allows."""
        target = self.folder / "work" / (name or f"{user}/{repo.replace('/', '+')}")
        git(self.folder, "clone", "--quiet", str(self.bare(repo).path), str(target))
        work = GitRepo(target)
        git(target, "remote", "set-url", "origin", f"{self.url}/{repo}")
        self._sign_in(work, user)
        return work

    def bare(self, repo: str) -> GitRepo:
        """The repository as the server has it."""
        return GitRepo(self.box.root / f"{repo}.git")

    def push(self, work: GitRepo, *refspecs: str) -> None:
        """Push from a clone, as the person whose clone it is."""
        git(work.path, "push", "--quiet", "origin", *refspecs)

    def pull(
        self,
        branch: str,
        *,
        title: str = "Change",
        body: str = "",
        base: str = "main",
        repo: str = "acme/demo",
        head_repo: str = "",
        author: str = "",
    ) -> Pull:
        """Open a pull request. By whom the head's repository belongs to, or by ``author``."""
        head_repo = head_repo or repo
        owner = head_repo.split("/")[0]
        wanted = {"title": title, "body": body, "head": f"{owner}:{branch}", "base": base}
        made = self.api("POST", f"/repos/{repo}/pulls", author or owner, wanted)
        return Pull(repo, made["number"], head_repo, branch, author or owner)

    def token(self, repo: str = "acme/demo", **permissions: str) -> str:
        """A GITHUB_TOKEN with these permissions and no other: ``token(pull_requests="write")``."""
        minted = self.box.emulator.mint(repo, permissions)
        self.box.grants[minted] = permissions
        return minted

    def api(self, method: str, path: str, user: str = "acme", body: object = None) -> Any:
        """A request of the test as a person (or with a token); not logged, never struck.

        Raises Refused when the answer is no success.
        """
        token = user if user in self.box.grants else token_of(user)
        answer = send(method, self.url + path, token, body, {FROM_TEST: "1"})
        if answer.status >= 300:
            raise Refused(answer.status, answer.body.decode())
        return answer.json()

    def open_pulls(self, repo: str = "acme/demo") -> list[Pull]:
        """The open pull requests of a repository, by whomever they were opened; oldest first."""
        rows = self.api("GET", f"/repos/{repo}/pulls?per_page=100&direction=asc")
        return [
            Pull(
                repo,
                row["number"],
                row["head"]["repo"]["full_name"],
                row["head"]["ref"],
                row["user"]["login"],
            )
            for row in rows
        ]

    def comments(self, pull: Pull) -> list[Json]:
        """All comments of a pull request, oldest first."""
        path = f"/repos/{pull.repo}/issues/{pull.number}/comments?per_page=100&page="
        pages = (self.api("GET", f"{path}{number}") for number in itertools.count(1))
        return [row for page in itertools.takewhile(bool, pages) for row in page]

    def labels(self, pull: Pull) -> set[str]:
        """The names of a pull request's labels."""
        rows = self.api("GET", f"/repos/{pull.repo}/issues/{pull.number}/labels?per_page=100")
        return {row["name"] for row in rows}

    def event(self, pull: Pull, action: str = "opened") -> Json:
        """The payload of a ``pull_request`` event, with both ends as they are now."""
        shown = self.api("GET", f"/repos/{pull.repo}/pulls/{pull.number}")
        tip = self.bare(pull.repo).head(f"refs/heads/{shown['base']['ref']}")
        return events.pull_request(pull, shown, action=action, base_sha=tip)

    def checkout(self, repo: str, rev: str) -> Path:
        """A fresh clone with ``rev`` checked out: where a workflow's YAML is read from."""
        target = self.folder / "runs" / f"checkout-{next(self._numbers)}"
        git(
            self.folder, "clone", "--quiet", "--no-checkout", str(self.bare(repo).path), str(target)
        )
        git(target, "fetch", "--quiet", "origin", rev)
        git(target, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        return target

    def act(
        self,
        work: Path,
        event: str,
        workflow: str,
        payload: Json | None = None,
        *,
        repo: str = "acme/demo",
        token: str = "",
        job: str = "",
        actor: str = "alice",
        sha: str = "",
        ref: str = "",
        variables: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        actions: Mapping[str, Path] | None = None,
        tool_cache: Path = TOOL_CACHE,
        path: Iterable[Path] = (),
        timeout: float = 300,
    ) -> Run:
        """Run a workflow file of the folder ``work`` for an event, as GitHub would for ``repo``.

        Without ``token`` it gets one with exactly the permissions that the workflow declares.
        ``sha`` and ``ref`` are ``github.sha`` and ``github.ref`` where act cannot know them.
        ``actions`` (``owner/repo@ref`` to a folder) adds to what ``stand_ins`` finds. Faults and
        the log of the box tell the rest.
        """
        number = next(self._numbers)
        if not token:
            token = self.token(repo, **act.permissions(work / workflow, job))
        own = {
            "GITHUB_REPOSITORY": repo,
            "GITHUB_SERVER_URL": self.url,
            "GITHUB_API_URL": f"{self.url}/api/v3",
            "GITHUB_GRAPHQL_URL": f"{self.url}/api/graphql",
            "GITHUB_RUN_ID": str(number),
            "GITHUB_RUN_ATTEMPT": "1",
            "RIG_ARTIFACTS": str(self.box.artifacts.folder),
            **({"SHA_REF": sha} if sha else {}),  # act's own name for an override of github.sha
            **({"GITHUB_REF": ref} if ref else {}),
        }
        return act.run(
            work,
            event,
            workflow,
            run_id=number,
            folder=self.folder / "runs" / str(number),
            payload=payload or {},
            actor=actor,
            token=token,
            variables={**own, **(variables or {})},
            secrets=secrets or {},
            actions={**act.stand_ins(self.project, work, self.project), **(actions or {})},
            tool_cache=tool_cache,
            path=path,
            job=job,
            timeout=timeout,
        )

    def act_on(self, pull: Pull, workflow: str, *, action: str = "opened", **more: Any) -> Run:
        """Run a workflow for a ``pull_request`` event: on the merge commit, as the author.

        The token has what the workflow declares, but only to read where the head is a fork's.
        ``more`` goes to ``act``.
        """
        payload = self.event(pull, action)
        merge = git_line(self.bare(pull.repo).path, "rev-parse", f"refs/pull/{pull.number}/merge")
        work = self.checkout(pull.repo, merge)
        if "token" not in more:
            granted = act.permissions(work / workflow, more.get("job", ""))
            if pull.is_from_fork:
                granted = dict.fromkeys(granted, "read")
            more["token"] = self.token(pull.repo, **granted)
        more = {"repo": pull.repo, "actor": pull.author, "sha": merge, **more}
        run = self.act(work, "pull_request", workflow, payload, **more)
        self.finished(pull, run.id, workflow, "success" if run.good else "failure")
        return run

    def finished(self, pull: Pull, run_id: int, workflow: str, conclusion: str) -> None:
        """Let the API have a finished run for a pull request, to hang artifacts on."""
        shown = self.event(pull)["pull_request"]
        run = events.workflow_run(pull, shown, run_id, workflow, conclusion, self.url)
        self.box.artifacts.started(run)

    def act_after(self, pull: Pull, run: Run, workflow: str, **more: Any) -> Run:
        """Run a workflow for the ``workflow_run`` event that the end of ``run`` sets off.

        It is the default branch's workflow with all the permissions that it declares, whoever
        wrote the pull request. ``more`` goes to ``act``.
        """
        payload = events.workflow_run_completed(self.box.artifacts.runs[run.id])
        tip = git_line(self.bare(pull.repo).path, "rev-parse", "refs/heads/main")
        work = self.checkout(pull.repo, tip)
        more = {"repo": pull.repo, "actor": pull.author, "sha": tip, **more}
        return self.act(work, "workflow_run", workflow, payload, ref="refs/heads/main", **more)

    def _make_bare(self, repo: str) -> None:
        bare = self.bare(repo).path
        bare.mkdir(parents=True)
        git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
        for name, value in _BARE_SETTINGS.items():
            git(bare, "config", name, value)

    def _sign_in(self, work: GitRepo, user: str) -> None:
        mine = f"http.{self.url}/.extraheader"
        git(work.path, "config", "--add", mine, f"Authorization: Bearer {token_of(user)}")
        git(work.path, "config", "--add", mine, f"{FROM_TEST}: 1")
        git(work.path, "config", "user.name", user)
        git(work.path, "config", "user.email", f"{user}@example.org")
