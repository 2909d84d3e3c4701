"""How large each room of the package may be: raise a number only in a commit that gives the reason."""

from collections import Counter
from pathlib import Path

import tinyvit

PACKAGE = Path(tinyvit.__file__).parent
SOURCES = (".py", ".cu", ".cuh", ".js", ".css", ".html")
BUDGET = {  # lines, files
    "engine": (7_727, 85),
    "data": (5_028, 34),
    "tinyvit": (3_959, 23),  # at the top: the commands, and what `import tinyvit` gives
    "weights": (3_798, 28),
    "model": (3_732, 45),
    "training": (2_783, 18),
    "page": (2_176, 29),
    "ops": (1_833, 32),
    "benchmark": (1_683, 20),
    "insight": (1_628, 16),
    "shell": (1_540, 10),
    "pictures": (1_217, 12),
    "studies": (1_182, 17),
    "files": (1_141, 10),
    "runs": (1_053, 5),
    "optim": (1_045, 14),
    "distributed": (549, 6),
    "checking": (470, 4),
    "words": (459, 4),
    "visualizing": (307, 4),
    "objectives": (280, 4),
    "recipes": (222, 3),
}


def test_no_room_is_larger_than_its_budget():
    lines, files = Counter(), Counter()
    for path in PACKAGE.rglob("*"):
        if path.suffix in SOURCES:
            room = path.relative_to(PACKAGE.parent).parts[:-1][:2][-1]
            lines[room] += len(path.read_text("utf-8").splitlines())
            files[room] += 1
    assert lines.keys() == BUDGET.keys()
    weighs = {room: (lines[room], files[room]) for room in BUDGET}
    over = {
        room: pair for room, pair in weighs.items() if pair[0] > BUDGET[room][0] or pair[1] > BUDGET[room][1]
    }
    assert not over, "larger than the budget allows"
