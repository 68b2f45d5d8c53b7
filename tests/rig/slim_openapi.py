"""Cut GitHub's OpenAPI description to what requests of this project are checked by.

``python tests/rig/slim_openapi.py DESCRIPTION > tests/rig/data/github-openapi.json``, where
DESCRIPTION is ``generated/api.github.com.json`` of the npm package ``@octokit/openapi`` (13 MB).
Kept: the operations below, with their parameters, the body that they take and the statuses that
they answer. Not kept: prose, examples and the shapes of answers.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_REPO = "/repos/{owner}/{repo}"
_PARTS = (
    "actions/artifacts actions/runs actions/workflows branches check-runs code-scanning/sarifs"
    " collaborators commits compare contents git issues labels pulls releases statuses"
)
_OTHERS = ("/user", "/users/{username}", "/rate_limit", "/meta", _REPO)
_PROSE = {"description", "summary", "example", "examples", "externalDocs", "tags"}


def is_kept(path: str) -> bool:
    """Whether the project, or what comes of it, may have a use for this path."""
    return path in _OTHERS or any(
        path == f"{_REPO}/{part}" or path.startswith(f"{_REPO}/{part}/") for part in _PARTS.split()
    )


def without_prose(value: Any, *, names: bool = False) -> Any:
    """The same without texts for people. ``names``: the keys are names of fields, not keywords."""
    if isinstance(value, list):
        return [without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_prose(item, names=key == "properties" and not names)
        for key, item in value.items()
        if names or (key not in _PROSE and not key.startswith("x-"))
    }


def request_side(operation: Json) -> Json:
    """What an operation says about a request, and the statuses that it may be answered with."""
    kept = {key: operation[key] for key in ("parameters", "requestBody") if key in operation}
    return {**without_prose(kept), "responses": sorted(operation["responses"])}


def referenced(value: Any) -> set[str]:
    """The components that a part of the description points at."""
    return set(re.findall(r'"#/components/([^"]+)"', json.dumps(value)))


def slim(description: Json) -> Json:
    """The smaller description, with every component that it points at."""
    paths = {
        path: {method: request_side(operation) for method, operation in operations.items()}
        for path, operations in description["paths"].items()
        if is_kept(path)
    }
    components: dict[str, Json] = {}
    waiting = referenced(paths)
    while waiting:
        kind, name = waiting.pop().split("/", 1)
        if name not in components.setdefault(kind, {}):
            components[kind][name] = without_prose(description["components"][kind][name])
            waiting |= referenced(components[kind][name])
    info = {key: description["info"][key] for key in ("title", "version", "license")}
    return {
        "openapi": description["openapi"],
        "info": info,
        "paths": paths,
        "components": components,
    }


if __name__ == "__main__":
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    json.dump(slim(document), sys.stdout, separators=(",", ":"), sort_keys=True)
    sys.stdout.write("\n")
