"""Comment on the pull request of the event, and say how that went."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from pathlib import Path

env = os.environ
event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
number, title = event["number"], event["pull_request"]["title"]
seen = json.dumps([env["GITHUB_SHA"], number, title])
request = urllib.request.Request(  # noqa: S310
    f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues/{number}/comments",
    json.dumps({"body": f"Seen: {env['GITHUB_SHA']}"}).encode(),
    {"Authorization": f"Bearer {env['SAMPLE_TOKEN']}", "Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        status = answer.status
except urllib.error.HTTPError as error:
    status = error.code
with Path(env["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
    output.write(f"status={status}\nseen={seen}\n")
with Path(env["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
    summary.write(f"The comment was answered {status}.\n")
