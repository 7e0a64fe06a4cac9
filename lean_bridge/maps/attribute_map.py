"""`@[blueprint "label" (statement := /-- … -/)]` on a declaration: the map is written in the Lean source."""

import re
from collections.abc import Iterable, Iterator

from lean_bridge.maps.entry import Entry, item_kind
from lean_bridge.model import Declaration

_LABEL = re.compile(r'blueprint\s+"([^"]*)"')
_TITLE = re.compile(r'\(\s*title\s*:=\s*"([^"]*)"')
_ENVIRONMENT = re.compile(r'\(\s*latexEnv\s*:=\s*"([^"]*)"')


def read_attributes(declarations: Iterable[Declaration]) -> Iterator[Entry]:
    """One entry per declaration with the attribute; without a label the declaration's name is the item."""
    for declaration in declarations:
        for attribute in declaration.attributes:
            if attribute != "blueprint" and not attribute.startswith("blueprint "):
                continue
            label = _LABEL.match(attribute)
            title = _TITLE.search(attribute)
            environment = _ENVIRONMENT.search(attribute)
            item = label[1] if label else declaration.name
            yield Entry(
                item=item,
                names=(declaration.name,),
                source=declaration.file,
                line=declaration.keyword[0],
                kind=item_kind(environment[1] if environment else item) if label or environment else None,
                title=title[1] if title else None,
                file=declaration.file,
            )
