"""Asking Coq's kernel."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

COQC = shutil.which("coqc")
needs_coq = pytest.mark.skipif(COQC is None, reason="coqc is not installed (Debian: coq, libcoq-interval)")


def accepted(text: str, folder: Path) -> None:
    """Fail with coqc's message unless it accepts the file."""
    assert COQC is not None
    (folder / "exported.v").write_text(text, encoding="utf-8")
    done = subprocess.run([COQC, "-q", "exported.v"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def without_comments(text: str) -> str:
    """What Coq reads of a file: comments, which nest, are taken out."""
    code, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif depth == 0:
            code.append(part)
    assert depth == 0
    return "".join(code)
