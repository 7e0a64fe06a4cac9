"""`python -m certify select`: what it prints, writes and refuses."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from certify.exit_status import ExitStatus
from certify.selection import select_command
from certify.selection.select_command import add_verb, main

GEOMETRIC: dict[str, Any] = {
    "schema": 1,
    "theory": "selection",
    "epsilon": "1",
    "beta": "1/100",
    "selection": {"sums": [40000, 37000, 12000, 0], "n": 65536, "algorithm": "geometric-binary-search"},
}
CLEAR = [1000, 60000, 0, 3]


def written(folder: Path, **changes: Any) -> str:
    """An instance file that differs from GEOMETRIC by these top-level fields; those of `selection` are merged."""
    document = GEOMETRIC | changes
    document["selection"] = GEOMETRIC["selection"] | changes.get("selection", {})
    if "records" in document["selection"]:
        document["selection"] = {k: v for k, v in document["selection"].items() if k not in ("sums", "n")}
    path = folder / "instance.json"
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    return str(path)


class TestRuns:
    @pytest.mark.parametrize("algorithm", ["binary-search", "geometric-binary-search", "sampling-filtering"])
    def test_clear_winner(self, algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path, selection={"algorithm": algorithm, "sums": CLEAR})
        assert main([path, "--seed", "5"]) is ExitStatus.PROVED
        text = capsys.readouterr().out
        assert "candidate 2 (the first is 1)" in text and algorithm in text
        assert "seed 5, not private: this run protects nobody" in text

    def test_linear_scan(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path, selection={"algorithm": "linear-scan", "sums": [10, 500], "n": 600})
        assert main([path, "--seed", "1"]) is ExitStatus.PROVED
        assert "candidate 2" in capsys.readouterr().out

    def test_sum_estimate(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path, selection={"algorithm": "sum-estimate", "sums": [123456], "n": 10**6})
        out = tmp_path / "result.json"
        assert main([path, "--seed", "2", "--json", str(out)]) is ExitStatus.PROVED
        result = json.loads(out.read_text())
        assert float(result["interval"]["lower"]) <= 123456 <= float(result["interval"]["upper"])
        assert result["queries"] == result["streams"] == 20 and result["epsilon_used"] == result["epsilon"] == "1"
        assert "interval" in capsys.readouterr().out

    def test_records_are_clipped(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [[1, 0, "5/2"], [0, -3, 1]]
        path = written(tmp_path, selection={"records": rows})
        assert main([path, "--seed", "3"]) is ExitStatus.PROVED
        assert "2 values clipped to [0,1]" in capsys.readouterr().out

    def test_bits_are_the_systems_by_default(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = tmp_path / "result.json"
        assert main([written(tmp_path), "--json", str(out)]) is ExitStatus.PROVED
        result = json.loads(out.read_text())
        assert result["private"] is True and result["randomness"] == "operating system"
        assert result["schema"] == "certify-select/1" and result["index"] in (1, 2, 3, 4)
        assert "randomness  operating system\n" in capsys.readouterr().out

    def test_same_seed_same_result(self, tmp_path: Path) -> None:
        path, results = written(tmp_path, selection={"alpha_factor": 8}), []
        for name in ("a.json", "b.json"):
            assert main([path, "--seed", "9", "--json", str(tmp_path / name)]) is ExitStatus.PROVED
            results.append((tmp_path / name).read_text())
        assert results[0] == results[1]

    @pytest.mark.parametrize("n", [2**80, 2**200])
    def test_scores_beyond_floats(self, n: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        selection = {"algorithm": "sampling-filtering", "sums": [0, n - 10**12, 5, n], "n": n}
        assert main([written(tmp_path, selection=selection), "--seed", "1"]) is ExitStatus.PROVED
        assert "candidate 4" in capsys.readouterr().out


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"epsilon": "2", "selection": {"algorithm": "sampling-filtering"}}, "$.epsilon: is above 1"),
            (
                {"selection": {"algorithm": "sampling-filtering", "sums": [0, 1], "n": 1}},
                "$.selection.n: is 1: sampling-filtering needs at least 2",
            ),
            ({"selection": {"algorithm": "linear-scan", "n": 10**12}}, "$.selection.n: needs more than 1,000,000,000"),
            ({"selection": {"algorithm": "quick-search"}}, "$.selection.algorithm"),
            ({"epsilon": 0}, "$.epsilon"),
            ({"beta": 1}, "$.beta"),
            ({"extra": 1}, "$.extra"),
        ],
    )
    def test_exit_2_with_the_path_and_nothing_written(
        self, changes: dict[str, Any], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "result.json"
        assert main([written(tmp_path, **changes), "--json", str(out)]) is ExitStatus.INVALID
        captured = capsys.readouterr()
        assert expected in captured.err and captured.out == "" and not out.exists()

    def test_instance_of_something_else(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "stream.json"
        document = {k: v for k, v in GEOMETRIC.items() if k != "selection"} | {"stream": {"sums": [0], "thresholds": 2}}
        path.write_text(json.dumps(document))
        assert main([str(path)]) is ExitStatus.INVALID
        assert "$: has nothing to select: give the field selection" in capsys.readouterr().err

    def test_problems_of_file_and_options_come_together(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = written(tmp_path, beta=2)
        assert main([path, "--json", str(tmp_path)]) is ExitStatus.INVALID
        text = capsys.readouterr().err
        assert "--json" in text and "$.beta" in text and "2 problems" in text

    def test_result_over_the_instance(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path)
        assert main([path, "--json", path]) is ExitStatus.INVALID
        assert "another path" in capsys.readouterr().err

    def test_failing_write(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail(path: str, text: str) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(select_command, "write_atomically", fail)
        assert main([written(tmp_path), "--json", str(tmp_path / "r.json")]) is ExitStatus.INVALID
        assert "No space left on device" in capsys.readouterr().err

    @pytest.mark.parametrize("seed", ["-1", "1.5", "٣", str(2**64), "x"])
    def test_seed_is_an_integer(self, seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            main([written(tmp_path), f"--seed={seed}"])
        assert stop.value.code == 2 and "--seed" in capsys.readouterr().err


def test_verb_can_be_added_to_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_verb(parser.add_subparsers())
    settings = parser.parse_args(["select", written(tmp_path), "--seed", "1"])
    assert settings.run(settings) is ExitStatus.PROVED
    assert "chosen" in capsys.readouterr().out
