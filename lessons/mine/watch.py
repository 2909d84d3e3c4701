"""A plugin for pytest that writes down each check as it ends, and stops the run when one takes too long.

The file named by the environment variable LESSON_WATCH gets a line of JSON when a check starts and one when
it ends. So what was found is not lost if an exercise never comes back, or takes Python down with it. A check
may take as many seconds as LESSON_SECONDS says.
"""

from __future__ import annotations

import faulthandler
import json
import os

_NOWHERE = open(os.devnull, "w")  # noqa: SIM115 - for the traceback of a check that takes too long
_seen = {"config": None, "count": 0}


def pytest_configure(config):
    """Find the list to which the lessons' conftest.py adds what happened to every check."""
    _seen["config"], _seen["count"] = config, 0


def pytest_runtest_logstart(nodeid, location):
    """Note which check starts, and set the alarm."""
    _write({"started": nodeid})
    faulthandler.dump_traceback_later(float(os.environ["LESSON_SECONDS"]), exit=True, file=_NOWHERE)


def pytest_runtest_logfinish(nodeid, location):
    """Stop the alarm, and write down what is new."""
    faulthandler.cancel_dump_traceback_later()
    results = getattr(_seen["config"], "lesson_results", [])
    for result in results[_seen["count"] :]:
        _write(result)
    _seen["count"] = len(results)


def _write(entry):
    with open(os.environ["LESSON_WATCH"], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
