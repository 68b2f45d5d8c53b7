"""How long does it take to validate every file of a large memory repo?

Beside it: check-jsonschema with an equal schema for each kind of file, formats checked, all
files of a kind in one process; and what no validator can undercut, reading the files with a
strict typed decode.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memrepo import MemoryRepo
from memrepo.protocol.documents import Metadata, Tool, Turn

from . import corpus, measure

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_TIME = {"type": "string", "format": "date-time"}


def _exactly(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SEMVER = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$"
SCHEMAS = {
    "context": {
        "type": "array",
        "items": _exactly(role={"enum": ["user", "assistant"]}, content=_TEXT, timestamp=_TIME),
    },
    "tools": {
        "type": "array",
        "items": _exactly(
            name=_TEXT | {"minLength": 1}, description=_TEXT, parameters={"type": "object"}
        ),
    },
    "metadata": _exactly(
        agent_id={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$"},
        version={"type": "string", "pattern": _SEMVER},
        last_updated=_TIME,
    ),
}


class _TimedTurn(Turn, frozen=True, forbid_unknown_fields=True):
    timestamp: datetime  # type: ignore[assignment]


class _TimedMetadata(Metadata, frozen=True, forbid_unknown_fields=True):
    last_updated: datetime  # type: ignore[assignment]


def check_jsonschema(repo: Path, schemas: Path) -> Callable[[], None]:
    """One process a kind, over all its files."""
    paths = {
        kind: [f"state/{agent}/{kind}.json" for agent in sorted(os.listdir(repo / "state"))]  # noqa: PTH208
        for kind in SCHEMAS
    }
    for kind, schema in SCHEMAS.items():
        (schemas / f"{kind}.json").write_text(json.dumps({"$schema": _DRAFT, **schema}))
    program = str(measure.PROGRAMS / "check-jsonschema")

    def run() -> None:
        for kind, files in paths.items():
            schema = str(schemas / f"{kind}.json")
            measure.call(program, "--schemafile", schema, *files, cwd=repo)

    return run


def decode_alone(repo: Path) -> None:
    """Read every file and decode it into typed values, and nothing else."""
    decoders: dict[str, msgspec.json.Decoder[Any]] = {
        "context.json": msgspec.json.Decoder(list[_TimedTurn]),
        "tools.json": msgspec.json.Decoder(list[Tool]),
        "metadata.json": msgspec.json.Decoder(_TimedMetadata),
    }
    base = f"{repo}/state"
    for agent in os.listdir(base):  # noqa: PTH208
        for name, decoder in decoders.items():
            handle = os.open(f"{base}/{agent}/{name}", os.O_RDONLY)
            decoder.decode(os.read(handle, 1 << 16))
            os.close(handle)


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows: whole processes with their goals, then in process."""
    agents = bench.size(10_000, 20)
    made = bench.folder / "agents.git"
    corpus.fill(made, corpus.Corpus(agents))
    repo = corpus.check_out(made, bench.folder / "agents")
    schemas = bench.folder / "schemas"
    schemas.mkdir()
    size = measure.bytes_under(repo / "state") / 1e6
    validate = [measure.memrepo(), "validate", "--all", "--rules"]

    def in_process(text: bool) -> None:
        with MemoryRepo(repo) as memory:
            found = [f for f in memory.validate(text=text) if f.severity == "error"]
        if found:
            raise SystemExit(f"the made-up memory has errors: {found[0]}")

    taken = measure.take_turns(
        {
            "protocol": measure.always(lambda: measure.call(*validate, "protocol", cwd=repo)),
            "all": measure.always(lambda: measure.call(*validate, "all", cwd=repo)),
            "schema": measure.always(check_jsonschema(repo, schemas)),
            "protocol in process": measure.always(lambda: in_process(text=False)),
            "all in process": measure.always(lambda: in_process(text=True)),
            "decode": measure.always(lambda: decode_alone(repo)),
        },
        bench.times(5),
    )
    case = f"{3 * agents:,} files, {size:.0f} MB"
    schema = ("check-jsonschema", taken["schema"])
    decode = ("read and decode alone", taken["decode"])
    rows = []
    for rules, words, goal in (("protocol", "the protocol's rules", 15), ("all", "every rule", 3)):
        ours = (f"validate --rules {rules}", taken[rules])
        rows.append(measure.faster("validate", f"{case}: {words}", ours, schema, at_least=goal))
    limits = [
        measure.share(
            "validate", case, (f"in process, {rules}", taken[f"{rules} in process"]), decode
        )
        for rules in ("protocol", "all")
    ]
    return rows + limits


if __name__ == "__main__":
    measure.main(question)
