"""What lean_bridge/README.md shows is what the command prints, and its map is one."""

import re
from pathlib import Path

import pytest

from lean_bridge.command_line import main
from lean_bridge.maps.toml_map import read_toml_map

ROOT = Path(__file__).parents[2]
README = (ROOT / "lean_bridge" / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(
    r"<!-- exit status: (\d) -->\n```console\n\$ python -m lean_bridge ([^\n]*)\n(.*?)```", README, re.DOTALL
)


def test_there_is_something_to_run() -> None:
    assert SHOWN


@pytest.mark.parametrize(("status", "words", "shown"), SHOWN)
def test_output_is_what_the_command_prints(
    status: str, words: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main([*words.split(), "--no-cache"]) == int(status)
    printed = iter(capsys.readouterr().out.splitlines())
    for line in shown.splitlines():
        assert line == "…" or line in printed, f"not printed, or not in this order: {line}"


def test_the_map_shown_is_one() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    found = read_toml_map(Path("crosswalk.toml"), text)
    assert not found.problems
    assert len(found.entries) == 1


def test_every_option_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--quiet"}
    assert options
    assert options <= set(re.findall(r"--[a-z-]+", README))
