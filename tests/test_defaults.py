"""Defaults stay as they are: one that changes changes what programs of others compute.

After a change on purpose, read the difference and store the defaults: python -m tests.test_defaults
"""

import inspect
from pathlib import Path

import tinyvit
from tinyvit.training.choices import FIT, fit_settings
from tinyvit.training.settings import Settings

STORED = Path(__file__).with_name("defaults.txt")


def defaults():
    """A line for each argument of a public function that may be omitted, with its value."""
    found = {name: getattr(tinyvit, name) for name in tinyvit.__all__} | {"Settings": Settings}
    for kind in (tinyvit.Model, tinyvit.ViTClassifier):
        methods = inspect.getmembers(kind, inspect.isfunction)
        found |= {f"{kind.__name__}.{name}": method for name, method in methods if name[0] != "_"}
    lines = []
    for name, function in sorted(found.items()):
        given = inspect.signature(function).parameters.values() if callable(function) else ()
        lines += [f"{name} {one.name}={one.default!r}" for one in given if one.default is not one.empty]
    usual = fit_settings({}, images=10**6, threads=None)
    return lines + [f"fit {name}={getattr(usual, name)!r}" for name in FIT]


def test_no_default_has_changed():
    assert sorted(set(STORED.read_text("utf-8").splitlines()) - set(defaults())) == []


if __name__ == "__main__":
    STORED.write_text("\n".join(defaults()) + "\n", "utf-8")
