"""The command in a process of its own: streams that break, encodings, threads, what is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

FIELDS: dict[str, Any] = {
    "schema": 1,
    "theory": "release",
    "universe": ["ja", "nö"],
    "queries": {"is-yes": [1, 0]},
    "database": {"ja": 2, "nö": 1},
    "epsilon": "1/2",
    "mechanism": {"rounds": 3, "eta": "1/3", "gamma": "1/4"},
}


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an instance in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("instance.json").write_text(json.dumps(FIELDS), encoding="utf-8")
    return "instance.json"


def process(*arguments: str, prefix: str = "", **settings: Any) -> subprocess.CompletedProcess[str]:
    """`python -m certify` in a process of its own; ``prefix`` is run before it."""
    environment = {name: value for name, value in os.environ.items() if name != "CERTIFY_DEBUG"}
    program = f"import sys\n{prefix}\nfrom certify.__main__ import main\nsys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        encoding="utf-8",
        env={**environment, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=120,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings},
    )


def test_the_module_runs(instance: str) -> None:
    name = Path(instance).resolve()
    command_line = [sys.executable, "-m", "certify", str(name)]
    done = subprocess.run(command_line, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("proved: ")
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [["schema"], ["--help"], []], ids=["schema", "help", "check"])
def test_a_reader_that_went_away_is_no_error(instance: str, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = process(*(arguments or [instance, "--json", "report.json"]), stdout=writer)
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0
    if not arguments:
        assert json.loads(Path("report.json").read_text(encoding="utf-8"))["summary"]["verdict"] == "proved"


def test_closed_streams_are_no_error(instance: str) -> None:
    close = "sys.stdout = sys.stderr = None"
    assert process(instance, "--json", "report.json", prefix=close).returncode == 0
    assert Path("report.json").exists()
    assert process("missing.json", prefix=close).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
def test_a_full_device_is_named(instance: str) -> None:
    with open("/dev/full", "w") as full:
        done = process(instance, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_a_narrow_encoding_is_no_error(instance: str) -> None:
    done = process(instance, prefix="sys.stdout.reconfigure(encoding='ascii')")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert " <= " in done.stdout


def test_a_start_sets_the_threads_and_imports_no_sympy(instance: str) -> None:
    report = "\n".join(
        [
            "import atexit, os",
            "def report():",
            "    threads = [os.environ.get(name) for name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS')]",
            "    slow = [name for name in ('sympy', 'rich.progress') if name in sys.modules]",
            "    print(*threads, slow, file=sys.stderr)",
            "atexit.register(report)",
        ]
    )
    forget = "import os; os.environ.pop('OPENBLAS_NUM_THREADS', 0); os.environ['OMP_NUM_THREADS'] = '2'"
    done = process(instance, prefix=f"{forget}\n{report}")
    assert done.stderr == "1 2 []\n", "a user's own setting is kept"
