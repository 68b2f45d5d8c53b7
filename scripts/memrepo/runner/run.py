"""Runs the verb of an action; turns every failure into words, an annotation and a code."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memrepo.errors import MemrepoError, UsageError
from memrepo.runner import inputs
from memrepo.runner.log import stopped

if TYPE_CHECKING:
    from memrepo.report.verdict import Review
    from memrepo.runner.job import Job

#: Every verb, and its inputs. Its module in this room has the verb's name, with ``_`` for ``-``.
VERBS: Mapping[str, type[inputs.Common]] = {
    "validate": inputs.ValidateInputs,
    "review": inputs.ReviewInputs,
    "comment": inputs.CommentInputs,
    "propose": inputs.ProposeInputs,
    "archive": inputs.ArchiveInputs,
    "restore": inputs.RestoreInputs,
    "update-knowledge": inputs.UpdateKnowledgeInputs,
    "merge-knowledge": inputs.MergeKnowledgeInputs,
    "memory-command": inputs.MemoryCommandInputs,
    "remember": inputs.RememberInputs,
    "brief": inputs.BriefInputs,
    "records-sweep": inputs.RecordsSweepInputs,
    "rollout": inputs.RolloutInputs,
}


def main(arguments: list[str]) -> int:
    """Run one verb with the inputs and the job that the environment holds; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        environ = dict(os.environ)
        # Programs that are started from here have no use for it.
        os.environ.pop(f"{inputs.PREFIX}SIGNING_KEY", None)
        return _run(arguments, environ)
    except MemrepoError as error:
        return stopped(error)


def _run(arguments: list[str], environ: Mapping[str, str]) -> int:
    from memrepo.runner.job import read_job

    if len(arguments) != 1 or arguments[0] not in VERBS:
        raise UsageError(f"one verb is needed: {', '.join(VERBS)}")
    verb = arguments[0]
    given = inputs.read_inputs(VERBS[verb], environ)
    job: Job = read_job(environ)
    module: Any = importlib.import_module(f"memrepo.runner.{verb.replace('-', '_')}")
    code: int = module.run(job, given)
    sys.stdout.flush()
    return code


def front_door_inputs() -> inputs.CommandInputs:
    """The inputs of ``action.yml``; its token becomes the one that the command line looks for."""
    given = inputs.read_inputs(inputs.CommandInputs, os.environ)
    if given.github_token:
        os.environ["GITHUB_TOKEN"] = given.github_token
    return given


def show_review(review: Review) -> None:
    """A review beside the run that this is part of: its summary, annotations, a line."""
    from memrepo.runner.job import read_job
    from memrepo.runner.reports import show

    show(read_job(os.environ), review)
