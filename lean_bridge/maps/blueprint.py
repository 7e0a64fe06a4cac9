"""Blueprint LaTeX: `\\lean{a, b}` inside an environment with a `\\label`."""

import re
from collections.abc import Iterator
from unicodedata import normalize

from lean_bridge.maps.entry import Entry, item_kind

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_TOKEN = re.compile(r"\\(?:(begin|end)\{([A-Za-z*]+)\}(?:\[([^\][]*)\])?|(label|lean|mathlibok)\b(?:\s*\{([^{}]*)\})?)")
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303"}
_ACCENT = re.compile(r"\\(['`^\"~])\{?([A-Za-z])\}?")
_ESCAPED = re.compile(r"\\([%&_#$])")
# Environments that state nothing.
_PLAIN_ENVIRONMENTS = """
    proof document enumerate itemize align align* aligned equation equation* split cases array tabular
    center figure gather gather* multline multline* tikzpicture tikzcd displaymath math
"""
_PLAIN_ENVIRONMENT = frozenset(_PLAIN_ENVIRONMENTS.split())


def read_blueprint(source: str, text: str) -> Iterator[Entry]:
    """One entry per `\\lean{…}`, under the label of its environment, else the last label before it."""
    text = _COMMENT.sub(lambda m: m[1] + " " * (len(m[0]) - len(m[1])), text)
    environments: list[_Environment] = []
    finished: list[_Environment] = []
    outside = _Environment(None, None)
    line = 1
    seen = 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        begin_or_end, environment, title, command, argument = match.groups()
        inner = environments[-1] if environments else outside
        if begin_or_end == "begin" and environment not in _PLAIN_ENVIRONMENT:
            environments.append(_Environment(environment, title))
        elif begin_or_end == "end" and environments and environments[-1].kind == environment:
            finished.append(environments.pop())
        elif command == "label" and argument and (inner.label is None or inner is outside):
            inner.label = argument.strip()
        elif command == "lean" and argument is not None:
            names = tuple(name for part in argument.split(",") if (name := "".join(part.split())))
            inner.lean.append((tuple(name.replace("\\_", "_") for name in names), line, inner.label))
        elif command == "mathlibok":
            inner.external = True
    for environment_ in [*finished, *environments, outside]:
        for names, at, label in environment_.lean:
            # In an environment the label may stand after \lean; outside, only before it.
            item = label if environment_ is outside else environment_.label
            item = item or f"{environment_.kind or 'text'} at {source}:{at}"
            yield Entry(
                item=item,
                names=names,
                source=source,
                line=at,
                kind=item_kind(environment_.kind or "", None) or item_kind(item),
                title=_plain(environment_.title),
                external=environment_.external,
            )


def _plain(title: str | None) -> str | None:
    """A LaTeX title without the commonest markup."""
    if title is None:
        return None
    accented = _ACCENT.sub(lambda m: normalize("NFC", m[2] + _ACCENTS[m[1]]), title)
    return _ESCAPED.sub(r"\1", accented).replace("---", "—").replace("--", "–").replace("~", " ")


class _Environment:
    def __init__(self, kind: str | None, title: str | None) -> None:
        self.kind = kind
        self.title = title
        self.label: str | None = None
        self.lean: list[tuple[tuple[str, ...], int, str | None]] = []
        self.external = False
