"""Say which files would be attested."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

file = Path(os.environ["CHECKSUMS"])
if not file.is_file():
    sys.exit(f"::error::subject checksums file not found: {file}")
subjects = []
for line in file.read_text(encoding="utf-8").splitlines():
    found = re.fullmatch(r"([0-9a-f]{64}) [ *](\S+)", line)
    if not found:
        sys.exit(f"::error::not a line of checksums: {line}")
    subjects.append(found[2])
if not 0 < len(subjects) <= 1024:
    sys.exit(f"::error::{len(subjects)} subjects cannot be attested")
sys.stdout.write(f"Attested: {' '.join(subjects)}\n")
with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
    output.write("attestation-id=1\n")
