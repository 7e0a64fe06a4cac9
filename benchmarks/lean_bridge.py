"""How fast Lean source is read: `python benchmarks/lean_bridge.py [--lines N] [--checkouts DIR]`.

Measures a generated corpus, which is the same everywhere, and checkouts of real repositories where they are given
(`--checkouts`, or the variable LEAN_BRIDGE_CHECKOUTS). Everything is read each time: docstrings, attributes, hashes,
positions, members; only the last column uses the cache. The best of three runs counts.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from lean_bridge.project import Project, read_project  # noqa: E402

LINES_PER_FILE = 400
RUNS = 3


def corpus(lines: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Paths and texts of Lean files with about `lines` lines, in the proportions of a library on Mathlib."""
    chance = random.Random(seed)
    for number in range(max(1, lines // LINES_PER_FILE)):
        parts = [f"import Mathlib\nimport Lib.M{number - 1}\n\n/-! # Module {number}\n\nProse with `code`. -/\n"]
        parts.append(f"\nopen Real\n\nnamespace Lib.M{number}\n\nvariable {{α : Type*}} [Fintype α] (f : α → ℝ)\n")
        count = sum(part.count("\n") for part in parts)
        while count < LINES_PER_FILE:
            part = _declaration(chance, count)
            parts.append(part)
            count += part.count("\n")
        parts.append(f"\nend Lib.M{number}\n")
        yield f"Lib/M{number}.lean", "".join(parts)


def _declaration(chance: random.Random, i: int) -> str:
    kind = chance.random()
    doc = f"/-- The bound number {i}; it holds for `n ≥ 1`. -/\n" if chance.random() < 0.4 else ""
    if kind < 0.06:
        fields = "".join(f"  /-- field {j} -/\n  x{j} : α → ℝ\n  h{j} : ∀ a, 0 ≤ x{j} a\n" for j in range(3))
        return f"\n{doc}@[ext] structure S{i} (α : Type*) extends Base α where\n{fields}"
    if kind < 0.2:
        return f"\n{doc}noncomputable def c{i} (n : ℕ) (x : ℝ) : ℝ :=\n  ∑ k ∈ Finset.range n, x ^ k / (k + 1 : ℝ)\n"
    if kind < 0.26:
        return f"\ninstance : Inhabited (T{i} α) where\n  default := ⟨fun _ => 0, by simp⟩\n"
    head = chance.choice(["theorem", "lemma", "@[simp] theorem", "private lemma"])
    steps = chance.randrange(3, 16)
    proof = "".join(
        f"  have h{j} : |f a| ≤ {j} * c{i} n x := by -- step {j}\n    simpa [mul_comm] using foo_{j} (a := a) hx\n"
        for j in range(steps)
    )
    statement = f"(hx : 0 < x) (h : ∀ a, f a ≤ x) :\n    ∑ a, f a ≤ (Fintype.card α : ℝ) * max x {i}"
    return f"\n{doc}{head} bound_{i} {{n : ℕ}} {{x : ℝ}} {statement} := by\n{proof}  linarith\n"


def best(run: Callable[[], Project]) -> tuple[float, Project]:
    """The shortest time of a few runs, and what was read."""
    shortest = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        project = run()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, project


def measure(name: str, root: Path) -> None:
    """One line of the table for one directory."""
    with tempfile.TemporaryDirectory() as cache:
        one, project = best(lambda: read_project(root, jobs=1))
        two, _ = best(lambda: read_project(root, jobs=2))
        read_project(root, jobs=1, cache_directory=Path(cache))
        again, _ = best(lambda: read_project(root, jobs=1, cache_directory=Path(cache)))
    million = again * 1_000_000 / project.lines
    print(
        f"{name:24} {project.lines:>9,} {len(project.declarations):>8,} {project.lines / one:>10,.0f}"
        f" {project.lines / two:>10,.0f} {one / two:>6.2f} {million:>12.2f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--lines", type=int, default=400_000, help="size of the generated corpus (default: %(default)s)"
    )
    parser.add_argument("--checkouts", default=os.environ.get("LEAN_BRIDGE_CHECKOUTS"), help="directory of checkouts")
    options = parser.parse_args()
    print(f"{'corpus':24} {'lines':>9} {'names':>8} {'1 process':>10} {'2':>10} {'times':>6} {'cached s/M':>12}")
    with tempfile.TemporaryDirectory() as directory:
        for path, text in corpus(options.lines):
            file = Path(directory) / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        measure("generated", Path(directory))
    if options.checkouts:
        measure("all checkouts", Path(options.checkouts))


if __name__ == "__main__":
    main()
