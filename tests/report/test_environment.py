import sys
import tomllib
from pathlib import Path

import flint

from certify.report.environment import this_environment
from certify.version import VERSION


def test_the_environment_names_what_computed_the_numbers() -> None:
    environment = this_environment()
    assert environment.certify == VERSION
    assert environment.python == ".".join(str(part) for part in sys.version_info[:3])
    assert environment.python_flint == flint.__version__
    assert environment.flint == flint.__FLINT_VERSION__
    for part in (environment.certify, environment.python, environment.python_flint, environment.flint):
        assert part in str(environment)


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == VERSION
