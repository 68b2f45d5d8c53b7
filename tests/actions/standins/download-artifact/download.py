"""Unpack artifacts: this run's from the folder where they lie, another run's by the API."""

from __future__ import annotations

import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

name, run_id = os.environ["NAME"], os.environ["RUN_ID"]
folder = Path(os.environ["FOLDER"]).absolute()


def fetch(url: str) -> bytes:
    """The bytes behind an address."""
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the box
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        sys.exit(f"::error::Unable to download artifact(s): {error.code} {error.reason}")


packed: dict[str, bytes] = {}
if os.environ["TOKEN"]:
    runs = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['REPOSITORY']}/actions/runs"
    for row in json.loads(fetch(f"{runs}/{run_id}/artifacts"))["artifacts"]:
        if name in ("", row["name"]):
            packed[row["name"]] = fetch(row["archive_download_url"])
else:
    for file in Path(os.environ["RIG_ARTIFACTS"], run_id).glob("*.zip"):
        if name in ("", file.stem):
            packed[file.stem] = file.read_bytes()

if name and not packed:
    sys.exit(f"::error::Unable to download artifact(s): Artifact not found for name: {name}")
for artifact, data in packed.items():
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder if name else folder / artifact)
with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
    output.write(f"download-path={folder}\n")
