"""The command: `python -m lean_bridge LEAN_DIR …` and `python -m lean_bridge suggest LEAN_DIR`."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from constants.ledger import default_ledger
from lean_bridge import cache
from lean_bridge.audit import BAD_INPUT, CLEAN, INTERRUPTED, Audit, Inputs, audit
from lean_bridge.certify_report import NumericalVerdict, read_certify_report
from lean_bridge.crosswalk import ALLOWED_AXIOMS
from lean_bridge.discover import discover_maps, read_maps
from lean_bridge.lean_output import read_axioms, read_names
from lean_bridge.project import Project, ProjectError, read_project
from lean_bridge.report.content import Content, previous_fingerprints, report_content, to_json
from lean_bridge.report.html import html_page
from lean_bridge.report.lean_decls import lean_decls
from lean_bridge.report.markdown import markdown_lines
from lean_bridge.report.text import text_lines
from lean_bridge.suggest import suggested_map
from lean_bridge.writing import write_atomically

_EPILOG = """\
exit status: 0 every row found and clean; 1 something missing, unproved in its own text or contradicted;
2 bad input, nothing written; 3 something unknown or only suggested.
`python -m lean_bridge suggest LEAN_DIR` writes a first map to standard output (or --map FILE).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verb = words.pop(0) if words[:1] == ["suggest"] else "audit"
    try:
        options = _parser(verb).parse_args(words)
    except SystemExit as stop:
        return CLEAN if not stop.code else BAD_INPUT
    try:
        return _suggest(options) if verb == "suggest" else _audit(options)
    except (ProjectError, _BadInputError) as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has gone; nothing more can be said to anyone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser(verb: str) -> argparse.ArgumentParser:
    program = "python -m lean_bridge" + (" suggest" if verb == "suggest" else "")
    parser = argparse.ArgumentParser(
        program,
        description="Reads Lean 4 source and reports, paper item by paper item, which declaration states it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="LEAN_DIR")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: as many as pay off)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where results of earlier runs are kept")
    parser.add_argument("--no-cache", action="store_true", help="keep and use no results")
    if verb == "suggest":
        parser.add_argument("--map", type=Path, metavar="FILE", help="write the map there")
        return parser
    parser.add_argument(
        "--map",
        type=Path,
        action="append",
        metavar="FILE",
        help="crosswalk.toml, a Markdown table or blueprint LaTeX; default: whatever of these LEAN_DIR holds",
    )
    parser.add_argument("--certify", type=Path, metavar="FILE", help="report of python -m certify --json")
    parser.add_argument("--axioms", type=Path, metavar="FILE", help="output of Lean's #print axioms")
    parser.add_argument("--env", type=Path, metavar="FILE", help="names Lean knows: a list, or doc-gen4 data")
    parser.add_argument(
        "--allow-axioms",
        metavar="A,B",
        default=",".join(ALLOWED_AXIOMS),
        help="axioms that are no objection (default: %(default)s)",
    )
    parser.add_argument("--previous", type=Path, metavar="FILE", help="earlier JSON report, to see what changed")
    parser.add_argument("--root", action="append", metavar="MODULE", help="root module (default: from the lakefile)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--md", type=Path, metavar="FILE")
    parser.add_argument("--html", type=Path, metavar="FILE")
    parser.add_argument("--lean-decls", type=Path, metavar="FILE", help="the list lake exe checkdecls reads")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    return parser


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 1024 or len(text) > 9:
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 1024")
    return int(text)


class _BadInputError(Exception):
    """Everything wrong with the inputs, one line each."""


def _audit(options: argparse.Namespace) -> int:
    project = _project(options)
    result = audit(project, _inputs(options, project), default_ledger())
    content = report_content(result)
    _write(options, result, content)
    lines = list(text_lines(content))
    for line in lines[-1:] if options.quiet else lines:
        print(_printable(line))
    return result.exit_status


def _suggest(options: argparse.Namespace) -> int:
    project = _project(options)
    found = discover_maps(project)
    if found.problems:
        raise _BadInputError("\n".join(found.problems))
    text = suggested_map(project, found.entries)
    if options.map is None:
        print(_printable(text), end="")
    else:
        _write_file(options.map, text.encode("utf-8"))
    return CLEAN


def _project(options: argparse.Namespace) -> Project:
    directory = None if options.no_cache else options.cache or cache.default_directory()
    return read_project(options.directory, jobs=options.jobs, cache_directory=directory)


def _inputs(options: argparse.Namespace, project: Project) -> Inputs:
    found = read_maps(options.map) if options.map else discover_maps(project)
    problems = list(found.problems)
    names = axioms = None
    numerical: list[NumericalVerdict] = []
    previous: dict[str, str] = {}
    if text := _text(options.env, problems):
        names = read_names(options.env, text)
        problems += names.problems
    if text := _text(options.axioms, problems):
        axioms = read_axioms(options.axioms, text)
        problems += axioms.problems
    if text := _text(options.certify, problems):
        numerical, wrong = read_certify_report(options.certify, text)
        problems += wrong
    if text := _text(options.previous, problems):
        previous, wrong = previous_fingerprints(options.previous, text)
        problems += wrong
    allowed = tuple(part.strip() for part in options.allow_axioms.split(",") if part.strip())
    if problems:
        raise _BadInputError("\n".join(problems))
    return Inputs(
        map=found,
        roots=tuple(options.root or ()),
        names=names,
        axioms=axioms,
        allowed=allowed,
        previous=previous,
        numerical=tuple(numerical),
    )


def _text(path: Path | None, problems: list[str]) -> str | None:
    if path is None:
        return None
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        problems.append(f"{path}: not UTF-8")
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
    else:
        if text.strip():
            return text
        problems.append(f"{path}: empty")
    return None


def _write(options: argparse.Namespace, result: Audit, content: Content) -> None:
    if options.json:
        _write_file(options.json, to_json(content))
    if options.md:
        _write_file(options.md, "\n".join([*markdown_lines(content), ""]).encode("utf-8", "replace"))
    if options.html:
        _write_file(options.html, html_page(content).encode("utf-8", "replace"))
    if options.lean_decls:
        _write_file(options.lean_decls, lean_decls(result).encode("utf-8", "replace"))


def _write_file(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise _BadInputError(f"{path}: cannot be written: {error.strerror}") from None


def _printable(text: str) -> str:
    """What the terminal's encoding can show, and no control characters of a hostile file name."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = "".join(char if char >= " " or char in "\n\t" else "\ufffd" for char in text)
    return shown.encode(encoding, "replace").decode(encoding)
