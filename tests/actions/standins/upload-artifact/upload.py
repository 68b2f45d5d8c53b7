"""Pack files under their common folder, as actions/upload-artifact does."""

from __future__ import annotations

import glob
import os
import sys
import zipfile
import zlib
from pathlib import Path

name, run_id = os.environ["NAME"], os.environ["GITHUB_RUN_ID"]
target = Path(os.environ["RIG_ARTIFACTS"], run_id, f"{name}.zip")
if target.exists() and os.environ["OVERWRITE"] != "true":
    sys.exit(f"::error::an artifact with this name already exists on the run: {name}")


def is_packed(file: Path, below: Path) -> bool:
    """Whether this is a file, and none that hides itself below what was asked for."""
    hidden = any(part.startswith(".") for part in file.relative_to(below).parts)
    return file.is_file() and (os.environ["HIDDEN"] == "true" or not hidden)


found: list[Path] = []
starts: list[Path] = []
for pattern in os.environ["FILES"].split("\n"):
    for place in glob.glob(pattern.strip(), recursive=True):  # noqa: PTH207 - may be absolute
        path = Path(place).absolute()
        inner = path.rglob("*") if path.is_dir() else [path]
        below = path if path.is_dir() else path.parent
        found += [file for file in sorted(inner) if is_packed(file, below)]
        starts.append(below)

if not found:
    problem = f"No files were found with the provided path: {os.environ['FILES'].strip()}"
    if os.environ["IF_NONE"] == "error":
        sys.exit(f"::error::{problem}")
    if os.environ["IF_NONE"] == "warn":
        sys.stdout.write(f"::warning::{problem}\n")
    sys.exit()

target.parent.mkdir(parents=True, exist_ok=True)
common = os.path.commonpath(starts)
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
    for file in found:
        packed.write(file, file.relative_to(common))
with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
    output.write(f"artifact-id={zlib.crc32(f'{run_id}/{target.name}'.encode())}\n")
