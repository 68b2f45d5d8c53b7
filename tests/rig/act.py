"""Run a workflow with ``act``, and read what it says."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from rig.tools import ACT, RIG, ROOT, STANDINS, git, machine_environment

Json = dict[str, Any]

_USES = re.compile(r"uses:\s*[\"']?([\w.-]+)/([\w.-]+)(?:/[\w./-]+)?@([\w./-]+)")
_OWN = "memrepo"
_GITHUBS_OWN = ("actions", "github")
_RUNNERS = ("ubuntu-latest", "ubuntu-24.04", "ubuntu-22.04", "self-hosted")
# act gives steps a terminal; GitHub does not.
_NO_TERMINAL = {"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}


class Annotation(msgspec.Struct, frozen=True):
    """A note beside a run: ``level`` is error, warning or notice, ``place`` has file and line."""

    level: str
    message: str
    place: dict[str, str]


class Run(msgspec.Struct, frozen=True):
    """What a run came to, and what a person would see on its page.

    ``jobs``: each job's result (``success``, ``failure``), by ``workflow name/job name``, since
    act is content with skipping a job. ``outputs`` are those of the jobs' own steps, by job, step
    id and name. ``faults``: what act takes for an error and goes on, where GitHub fails the step;
    to be empty in every test. ``text``: the log as a person reads it.
    """

    id: int
    code: int
    folder: Path
    jobs: dict[str, str]
    outputs: dict[tuple[str, str, str], str]
    summary: str
    annotations: list[Annotation]
    faults: list[str]
    text: str
    everything: str

    @property
    def good(self) -> bool:
        """Whether every job ran and succeeded, with no complaint that act passes over."""
        done = set(self.jobs.values())
        return self.code == 0 and done == {"success"} and not self.faults

    def output(self, step: str, name: str) -> str:
        """An output of the one step with this id, in whichever job."""
        found = [v for (_, s, n), v in self.outputs.items() if (s, n) == (step, name)]
        assert len(found) == 1, f"{len(found)} outputs are called {step}.{name}: {self.outputs}"
        return found[0]

    def __str__(self) -> str:
        return self.everything


def read(run_id: int, code: int, folder: Path, said: str) -> Run:
    """Make a run of what act printed (``--json``: an object a line, and other lines)."""
    rows: list[Json] = []
    for line in said.splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            rows.append({"msg": line})
    message = [str(row.get("msg", "")).rstrip("\n") for row in rows]
    return Run(
        id=run_id,
        code=code,
        folder=folder,
        jobs={row["job"]: row["jobResult"] for row in rows if "jobResult" in row},
        outputs={
            (row["job"], row["stepID"][0], row["name"]): row["arg"]
            for row in rows
            if row.get("command") == "set-output" and _is_of_job(row)
        },
        # A composite action's summary is said again on each level above its own.
        summary="".join(
            row["content"] for row in rows if row.get("command") == "summary" and _is_of_job(row)
        ),
        annotations=[
            Annotation(row["command"], row["arg"], row.get("kvPairs") or {})
            for row in rows
            if row.get("command") in ("error", "warning", "notice")
        ],
        faults=[
            text
            for row, text in zip(rows, message, strict=True)
            if row.get("level") == "error" and not row.get("command")
        ],
        text="\n".join(
            text for row, text in zip(rows, message, strict=True) if row.get("raw_output")
        ),
        everything="\n".join(
            f"{row.get('job', '')}| {text}" for row, text in zip(rows, message, strict=True)
        ),
    )


def _is_of_job(row: Json) -> bool:
    """Whether this is of a step of the job, and not of one inside a composite action."""
    return len(row.get("stepID") or []) == 1


def run(
    work: Path,
    event: str,
    workflow: str,
    *,
    run_id: int,
    folder: Path,
    payload: Json,
    actor: str,
    token: str,
    variables: Mapping[str, str],
    secrets: Mapping[str, str],
    actions: Mapping[str, Path],
    tool_cache: Path,
    path: Iterable[Path] = (),
    job: str = "",
    timeout: float = 300,
) -> Run:
    """Run the workflow file ``workflow`` of the folder ``work`` for an event.

    ``actions``: ``owner/repo@ref`` to the folder that stands for it. ``tool_cache`` is what jobs
    have as RUNNER_TOOL_CACHE; ``path`` are folders that lead their PATH.
    """
    (folder / "cache").mkdir(parents=True)
    (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
    tool_cache.mkdir(parents=True, exist_ok=True)
    # act lets nobody say where RUNNER_TOOL_CACHE is, and has it here.
    (folder / "cache" / "tool_cache").symlink_to(tool_cache)
    command = [str(ACT), event, "--workflows", workflow, "--eventpath", f"{folder}/event.json"]
    command += ["--actor", actor, "--json", "--no-cache-server", "--no-skip-checkout"]
    command += ["--action-cache-path", f"{folder}/cache", "--secret", f"GITHUB_TOKEN={token}"]
    command += ["--job", job] if job else []
    for runner in _RUNNERS:
        command += ["--platform", f"{runner}=-self-hosted"]
    for name, value in {**_NO_TERMINAL, **variables}.items():
        command += ["--env", f"{name}={value}"]
    # Their values come from the environment, where no list of processes shows them.
    for name in secrets:
        command += ["--secret", name]
    for uses, place in actions.items():
        command += ["--local-repository", f"{uses}={place}"]
    environ = {
        **machine_environment(*path),
        **secrets,
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "xdg"),
        "PIP_CACHE_DIR": str(RIG / "cache" / "pip"),
        "UV_CACHE_DIR": str(RIG / "cache" / "uv"),
    }
    done = subprocess.run(
        command,
        cwd=work,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
    )
    return read(run_id, done.returncode, folder, done.stdout + done.stderr)


def stand_ins(project: Path, *folders: Path) -> dict[str, Path]:
    """What to take for each action that the YAML in ``folders`` uses, by ``owner/repo@ref``.

    GitHub's own actions have a stand-in each in ``tests/actions/standins``; ``OWNER/memrepo`` is
    ``project``, whoever the owner. Other actions are left to be cloned from the box.
    """
    found = {}
    files = [f for folder in folders for f in folder.rglob("*.y*ml") if ".git" not in f.parts]
    for file in files:
        for owner, name, ref in _USES.findall(file.read_text(encoding="utf-8")):
            if name == _OWN:
                found[f"{owner}/{name}@{ref}"] = project
            elif owner in _GITHUBS_OWN and (STANDINS / name).is_dir():
                found[f"{owner}/{name}@{ref}"] = STANDINS / name
    return found


def permissions(workflow: Path, job: str = "") -> dict[str, str]:
    """What GITHUB_TOKEN may do by the workflow's own words, as the API spells it.

    All jobs (or the one asked for) must declare the same, for act has one token for a run; what
    is not declared is refused, since it would be up to a repository's settings.
    """
    said = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    jobs = said["jobs"] if not job else {job: said["jobs"][job]}
    declared = []
    for name, body in jobs.items():
        granted = body.get("permissions", said.get("permissions"))
        assert isinstance(granted, dict), f"{workflow.name}: job {name} declares no permissions"
        declared.append({k.replace("-", "_"): v for k, v in granted.items() if v != "none"})
    assert all(d == declared[0] for d in declared), f"{workflow.name}: name a job, they differ"
    # Whoever may do anything may read what kind of repository it is; OIDC is no part of the API.
    return {"metadata": "read", **{k: v for k, v in declared[0].items() if k != "id_token"}}


def copy_of_checkout(target: Path) -> Path:
    """Copy what this checkout would publish as an action: its files, without tests and history."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode()
    for name in listed.split("\0")[:-1]:
        source = ROOT / name
        if not name.startswith(("tests/", "bench/", "docs/")) and source.is_file():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.read_bytes())
            place.chmod(source.stat().st_mode)
    return target
