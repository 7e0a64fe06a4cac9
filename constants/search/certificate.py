"""Certificates of a rung as files: a tuning, and the certificates of the claims that show its constant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flint import fmpq

from certify.arithmetic.exact import NumberError, parse_rational
from certify.instance_file import InputProblem, InstanceError, printable, quoted
from constants.search.rung import RUNGS, Envelope, Histogram, Tuning

FORMAT = "certify-rung/1"
SHIPPED = Path(__file__).with_name("certificates")
MAX_CHARACTERS = 20_000_000
MAX_UNIVERSE = 10**6
MAX_RANGES = 20
MAX_DIGITS = 50
"""Of the numerator and of the denominator of a number; the claims repeat it many times."""

_FIELDS = ("format", "rung", "constant", "ranges", "claims")
_ENVELOPE_FIELDS = ("first", "g", "b", "j")
_HISTOGRAM_FIELDS = ("first", "mechanism")


@dataclass(frozen=True)
class RungCertificate:
    """A tuning, and by claim id the certificates that show its constant; whether they do is for the check to say."""

    tuning: Tuning
    claims: Mapping[str, Any]


def certificate_text(certificate: RungCertificate) -> str:
    """The certificate as a file: the same bytes for the same certificate."""
    tuning = certificate.tuning
    data = {
        "format": FORMAT,
        "rung": tuning.rung.name,
        "constant": str(tuning.constant),
        "ranges": [_range_data(each) for each in tuning.ranges],
        "claims": dict(certificate.claims),
    }
    return json.dumps(data, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n"


def _range_data(each: Histogram | Envelope) -> dict[str, Any]:
    if isinstance(each, Histogram):
        return {"first": each.first, "mechanism": "histogram"}
    return {"first": each.first, "g": str(each.g), "b": str(each.b), "j": str(each.j)}


def read_certificate(path: str | Path) -> RungCertificate:
    """The certificate in a file. Raises InstanceError with all that is wrong with its form."""
    source = str(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
        if len(text) > MAX_CHARACTERS:
            raise _invalid(source, "$", f"longer than {MAX_CHARACTERS:,} characters: not a certificate of a rung")
        data = json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, parse_int=_integer, object_pairs_hook=_object
        )
    except UnicodeDecodeError:
        raise _invalid(source, "$", "is not UTF-8 text: give a certificate that `constants search` wrote") from None
    except OSError as error:
        raise _invalid(source, "$", f"cannot be read ({error.strerror}): give the path of a certificate") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _invalid(source, "$", f"not a certificate in JSON: {reason[:200]}") from None
    return _Reader(source).certificate(data)


@cache
def shipped_certificate(name: str) -> RungCertificate:
    """The certificate of a rung that comes with the package. Raises KeyError where there is none."""
    if name not in shipped_names():
        raise KeyError(name)
    return read_certificate(SHIPPED / f"rung-{name}.json")


def shipped_tuning(name: str) -> Tuning:
    """The tuning of a rung that comes with the package. Raises KeyError where there is none."""
    return shipped_certificate(name).tuning


def shipped_names() -> tuple[str, ...]:
    """The rungs whose certificates come with the package, in their order."""
    return tuple(name for name in RUNGS if (SHIPPED / f"rung-{name}.json").is_file())


def _invalid(source: str, path: str, message: str) -> InstanceError:
    return InstanceError([InputProblem(path, message)], source)


def _no_float(text: str) -> None:
    raise ValueError(f'{text[:40]} is not an exact number: write it as text such as "13/50"')


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:40]}… is too large an integer for a certificate")
    return int(text)


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(members)
    if len(result) < len(members):
        keys = [key for key, _ in members]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} is given twice in one object")
    return result


class _Reader:
    """Collects every problem of a file."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._problems: list[InputProblem] = []

    def certificate(self, data: Any) -> RungCertificate:
        if not isinstance(data, dict):
            raise _invalid(self._source, "$", "a certificate is an object with the fields " + ", ".join(_FIELDS))
        self._known("$", data, _FIELDS)
        if data.get("format") != FORMAT:
            self._wrong("$.format", f'write "{FORMAT}"')
        rung = data.get("rung")
        if not isinstance(rung, str) or rung not in RUNGS:
            self._wrong("$.rung", f"no rung has this name: the rungs are {', '.join(RUNGS)}")
        constant = self._rational("$.constant", data.get("constant"), fmpq(1), None)
        no_histogram = isinstance(rung, str) and rung in RUNGS and not RUNGS[rung].histogram
        ranges = self._ranges(data.get("ranges"), f"rung {rung} has no histogram: " if no_histogram else "")
        claims = data.get("claims")
        if not isinstance(claims, dict):
            self._wrong("$.claims", "give the certificates of the claims by id")
        if self._problems or constant is None or not isinstance(claims, dict) or not isinstance(rung, str):
            raise InstanceError(self._problems, self._source)
        return RungCertificate(Tuning(RUNGS[rung], constant, ranges), claims)

    def _ranges(self, data: Any, no_histogram: str) -> tuple[Histogram | Envelope, ...]:
        if not isinstance(data, list) or not 1 <= len(data) <= MAX_RANGES:
            self._wrong("$.ranges", f"a list of 1 to {MAX_RANGES} ranges of T")
            return ()
        ranges: list[Histogram | Envelope] = []
        for i, entry in enumerate(data):
            path = f"$.ranges[{i}]"
            if not isinstance(entry, dict):
                self._wrong(
                    path, 'a range is {"first": …, "g": …, "b": …, "j": …} or {"first": …, "mechanism": "histogram"}'
                )
                continue
            histogram = "mechanism" in entry
            self._known(path, entry, _HISTOGRAM_FIELDS if histogram else _ENVELOPE_FIELDS)
            first = entry.get("first")
            least = 2 if not ranges else ranges[-1].first + 1
            if not isinstance(first, int) or isinstance(first, bool) or not least <= first <= MAX_UNIVERSE:
                self._wrong(f"{path}.first", f"an integer from {least} to {MAX_UNIVERSE:,}")
                continue
            if i == 0 and first != 2:
                self._wrong(f"{path}.first", "the first range starts at T = 2")
            if histogram:
                if no_histogram:
                    self._wrong(path, f"{no_histogram}give g, b and j")
                elif entry["mechanism"] != "histogram":
                    self._wrong(f"{path}.mechanism", 'write "histogram", or give g, b and j')
                ranges.append(Histogram(first))
                continue
            g = self._rational(f"{path}.g", entry.get("g"), fmpq(0), fmpq(1, 2))
            b = self._rational(f"{path}.b", entry.get("b"), fmpq(0), None)
            j = self._rational(f"{path}.j", entry.get("j"), fmpq(0), None)
            if g is not None and b is not None and j is not None:
                ranges.append(Envelope(first, g, b, j))
        if ranges and isinstance(ranges[-1], Histogram):
            self._wrong("$.ranges", "the last range is for all larger universes: it needs g, b and j")
        return tuple(ranges)

    def _rational(self, path: str, text: Any, above: fmpq, below: fmpq | None) -> fmpq | None:
        """A rational in the open interval; the ends are for the constant 1 and for g < 1/2."""
        try:
            if not isinstance(text, str):
                raise NumberError("a number is text in quotes")
            value = parse_rational(text)
        except NumberError as error:
            self._wrong(path, f'{error}: write a rational such as "13/50"')
            return None
        if max(abs(int(value.p)), int(value.q)) >= 10**MAX_DIGITS:
            self._wrong(path, f"{quoted(text)} has more than {MAX_DIGITS} digits: write fewer")
            return None
        if value <= above or (below is not None and value >= below):
            limits = f"above {above}" if below is None else f"between {above} and {below}"
            self._wrong(path, f"{quoted(text)} is not {limits}")
            return None
        return value

    def _known(self, path: str, entry: Mapping[str, Any], fields: tuple[str, ...]) -> None:
        for key in entry:
            if key not in fields:
                self._wrong(f"{path}.{printable(key[:40])}", f"unknown field: the fields are {', '.join(fields)}")

    def _wrong(self, path: str, message: str) -> None:
        self._problems.append(InputProblem(path, message))
