"""A plugin of pytest by which a second environment runs the tests that a first one skipped.

--skips-to=FILE     write a line of JSON for each test, or file of tests, that was skipped: its name, and why
--skips-of=FILE     run only the tests that such a file names; at the end, name those that were skipped again
"""

import json
from collections import defaultdict
from pathlib import Path

skipped: dict[str, str] = {}


def pytest_addoption(parser):
    parser.addoption("--skips-to", type=Path, metavar="FILE")
    parser.addoption("--skips-of", type=Path, metavar="FILE")


def pytest_collection_modifyitems(config, items):
    if path := config.getoption("--skips-of"):
        names = {json.loads(line)["name"] for line in path.read_text("utf-8").splitlines()}
        chosen = [item for item in items if {item.nodeid, item.nodeid.split("::")[0]} & names]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def pytest_collectreport(report):
    _note(report)


def pytest_runtest_logreport(report):
    _note(report)


def _note(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")


def pytest_sessionfinish(session):
    if path := session.config.getoption("--skips-to"):
        lines = (json.dumps({"name": name, "reason": reason}) for name, reason in skipped.items())
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--skips-of"):
        for reason, tests in sorted(_by_reason().items()):
            terminalreporter.write_line(f"skipped in both environments: {reason}")
            for name, count in tests.items():
                terminalreporter.write_line(f"    {name}" + (f" ({count} cases)" if count > 1 else ""))


def _by_reason():
    """The functions, or files, that were skipped for each reason, with the number of their cases."""
    reasons = defaultdict(lambda: defaultdict(int))
    for name, reason in skipped.items():
        reasons[reason][name.split("[")[0]] += 1
    return reasons
