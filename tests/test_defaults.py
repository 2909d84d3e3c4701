"""What is not given keeps its value: a default that changes changes what programs of others compute.

After a change on purpose, read the difference and store the defaults: python -m tests.test_defaults
"""

import inspect
from pathlib import Path

import tinyvit
from tinyvit.training.fit import fit
from tinyvit.training.settings import Settings

STORED = Path(__file__).with_name("defaults.txt")


def defaults():
    """A line for each public function, with the value of every argument that may be omitted."""
    found = {name: getattr(tinyvit, name) for name in tinyvit.__all__} | {"fit": fit, "Settings": Settings}
    for kind in (tinyvit.Model, tinyvit.ViTClassifier):
        methods = inspect.getmembers(kind, inspect.isfunction)
        found |= {f"{kind.__name__}.{name}": method for name, method in methods if name[0] != "_"}
    lines = []
    for name, function in sorted(found.items()):
        given = inspect.signature(function).parameters.values() if callable(function) else ()
        values = [f"{one.name}={one.default!r}" for one in given if one.default is not one.empty]
        lines += [f"{name}: {', '.join(values)}"] if values else []
    return "\n".join(lines) + "\n"


def test_defaults_are_what_they_were():
    assert defaults() == STORED.read_text("utf-8")


if __name__ == "__main__":
    STORED.write_text(defaults(), "utf-8")
