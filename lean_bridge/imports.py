"""Which files the library's root modules import, directly or not."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from lean_bridge.model import SourceFile
from lean_bridge.names import NAME, parse_name
from lean_bridge.scan import scan

_TARGET = re.compile(rf"\blean_(?:lib|exe)\s+(?:\"([^\"]*)\"|({NAME}))")
_ROOT = re.compile(rf"\broots?\s*:=\s*(?:#\[)?\s*((?:`{NAME}[\s,]*)+)")


def root_modules(root: Path) -> list[str]:
    """Root modules of the libraries and programs that `lakefile.toml` or `lakefile.lean` declares."""
    try:
        return _from_toml(tomllib.loads((root / "lakefile.toml").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        pass
    try:
        text = (root / "lakefile.lean").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return []
    code = scan(text).uncommented(0, len(text))
    names = [first or second.strip("«»") for first, second in _TARGET.findall(code)]
    for group in _ROOT.findall(code):
        names += [name.lstrip("`") for name in re.findall(rf"`{NAME}", group)]
    return names


def _from_toml(data: dict[str, object]) -> list[str]:
    names: list[str] = []
    for kind in ("lean_lib", "lean_exe"):
        targets = data.get(kind)
        for target in targets if isinstance(targets, list) else ():
            if not isinstance(target, dict):
                continue
            roots = target.get("globs") or target.get("roots") or target.get("root") or target.get("name")
            for name in roots if isinstance(roots, list) else [roots]:
                if isinstance(name, str):
                    names.append(name)
    return names


def reachable_files(files: Sequence[SourceFile], roots: Iterable[str]) -> frozenset[str] | None:
    """Paths of the files that the roots import; None where no root is one of the files.

    A root is a module name (`A.B`, or `A.*` and `A.+` for all below) or a path.
    """
    by_module = {file.path.removesuffix(".lean").replace("/", "."): file for file in files}
    for file in files:
        # A library may live in a source directory, so its module name is a tail of the path.
        module = file.path.removesuffix(".lean").replace("/", ".")
        while "." in module:
            module = module.split(".", 1)[1]
            by_module.setdefault(module, file)
    pending: list[SourceFile] = []
    for root in roots:
        name = root.removesuffix(".lean").replace("/", ".")
        below = name[:-1] if name.endswith((".*", ".+")) else None
        if below is not None:
            pending += [file for module, file in by_module.items() if f"{module}.".startswith(below)]
        elif name in by_module:
            pending.append(by_module[name])
    if not pending:
        return None
    seen: set[str] = set()
    while pending:
        file = pending.pop()
        if file.path in seen:
            continue
        seen.add(file.path)
        for module in file.imports:
            parsed = parse_name(module)
            imported = by_module.get(".".join(parsed)) if parsed else None
            if imported:
                pending.append(imported)
    return frozenset(seen)
