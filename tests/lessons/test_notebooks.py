"""`python -m lessons.site OUT --notebooks`: the lessons as notebooks, run as Jupyter runs them."""

import importlib
import json
import re

import pytest

from lessons.site import __main__ as command
from tests.lessons.course import CAPSTONE, LESSONS, ROOT, every_lesson, listings_of, text_of
from tests.lessons.test_texts import approximate
from tests.tiny_runs import enter

WHOLE = ("00_pixels", "03_linear")  # run as they stand; of the others, the cells that are no listings
RUN = [lesson for lesson in LESSONS if lesson.name in (*WHOLE, "06_attention", CAPSTONE)]
MINE = "mine, not the library's\n"
FOLD = re.compile(r"^<details>.*?^</details>", re.M | re.S)
NO_TARGET = re.compile(r"\]\(.*?\)")


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """The cells of all notebooks, by the folders that they were written to."""
    for package in command.PACKAGES:
        pytest.importorskip(package, reason='pip install -e ".[site]"')
    out = tmp_path_factory.mktemp("notebooks") / "out"
    command.main(command.parser().parse_args([str(out), "--notebooks"]))
    files = sorted(out.resolve().glob("*/*.ipynb"))
    return {file.parent: json.loads(file.read_text("utf-8"))["cells"] for file in files}


def of_lesson(notebooks, lesson):
    return next((folder, cells) for folder, cells in notebooks.items() if folder.name == lesson.name)


def printed_by(cell):
    return re.sub(r"\x1b\[[\d;]*m|\r", "", "".join(each["text"] for each in cell["outputs"]))


@every_lesson
def test_a_notebook_has_every_line_of_its_lesson_and_what_it_links_to(notebooks, lesson):
    folder, cells = of_lesson(notebooks, lesson)
    prose = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    shown = {f"{cell['source']}\n": printed_by(cell) for cell in cells if cell["cell_type"] == "code"}
    lines = "\n".join([prose, *shown, *shown.values()])
    missing = {*NO_TARGET.sub("", text_of(lesson)).split("\n")} - {*NO_TARGET.sub("", lines).split("\n")}
    assert missing <= {"```python", "```text", "```"}
    folds = "".join(FOLD.findall(text_of(lesson)))
    whole = "".join(each for cell in cells for each in FOLD.findall(cell["source"]))
    assert NO_TARGET.sub("", whole) == NO_TARGET.sub("", folds)
    for code, printed in listings_of(lesson):
        block = f"```text\n{printed}```"
        assert prose.count(block) == folds.count(block)
        assert shown.get(code, "" if code in folds else None) == ("" if block in folds else printed)
    links = re.findall(r"\]\((?!\w+:|#)([^)\s#]+)", prose)
    assert links and [link for link in links if not (folder / link).exists()] == []


@pytest.mark.parametrize("lesson", RUN, ids=[lesson.name for lesson in RUN])
def test_a_notebook_runs_and_its_checks_say_what_pytest_says(notebooks, lesson, monkeypatch):
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package, reason="pip install nbclient ipykernel")
    import nbformat
    from nbclient import NotebookClient

    folder, _ = of_lesson(notebooks, lesson)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")  # which keeps how far a learner is
    book = nbformat.read(folder / f"{lesson.name}.ipynb", 4)
    jupyter = NotebookClient(book, timeout=300, resources={"metadata": {"path": folder}})
    write = next(i for i, cell in enumerate(book.cells) if cell.source.startswith("%%writefile"))
    check = write + 1

    def run(i):
        return printed_by(jupyter.execute_cell(book.cells[i], i))

    def run_listings():
        """Run all code, and compare what the listings print with the text."""
        printed = {cell.source: run(i) for i, cell in enumerate(book.cells) if cell.cell_type == "code"}
        for code, expected in listings_of(lesson):
            words, figures = approximate(printed.get(code.rstrip(), expected).replace(MINE, ""))
            assert (words, pytest.approx(figures, rel=0.1)) == approximate(expected), code
        return "".join(printed.values())

    def run_checks():
        """Set up, and run the cell of the exercise and that of its checks: test_texts runs the listings."""
        first = next(i for i, cell in enumerate(book.cells) if cell.cell_type == "code")
        return "".join(run(i) for i in (first, write, check))

    with jupyter.setup_kernel():
        unsolved = run_listings() if lesson.name in WHOLE else run_checks()
        assert re.search(rf"{lesson.name} +\[ +\]  0 of ", unsolved)
        assert re.search(r"\n\d+ to do in", unsolved)

        answer = ROOT / "tinyvit/in_one_file.py" if lesson.name == CAPSTONE else lesson / "solution.py"
        book.cells[write].source = f"{book.cells[write].source.splitlines()[0]}\n{answer.read_text('utf-8')}"
        run(write)
        solved = run(check)
        assert re.search(rf"{lesson.name} +\[#{{20}}\] (.\d) of \1 checks", solved)
        assert "wrong" not in solved

        if lesson.name == "03_linear":  # whose listings train with what the learner has written
            book.cells[write].source += f"\nlinear = linear\nprint({MINE!r}, end='')\n"
            assert MINE in run_listings()


def test_with_a_public_address_links_lead_there_and_colab_fetches_the_course(notebooks, monkeypatch):
    module = importlib.import_module("lessons.site.notebooks")
    monkeypatch.setattr(module, "repository", lambda: "https://github.com/me/vit")
    files = module.course(ROOT / "build/books")
    assert [name for name in files if not name.endswith(".ipynb")] == []
    text = files["07_layer_norm/07_layer_norm.ipynb"].decode()
    assert "https://github.com/me/vit/raw/main/lessons/07_layer_norm/figures/where.png)" in text
    assert "https://github.com/me/vit/blob/main/tinyvit/ops/layer_norm.py#L31)" in text
    assert "/github/me/vit/blob/main/build/books/07_layer_norm/07_layer_norm.ipynb)" in text
    assert "git clone -q --depth 1 https://github.com/me/vit /content/course" in text
    assert not re.search(r"\]\((?!https?:)", text)


def test_notebooks_are_never_replaced(notebooks, capsys, monkeypatch):
    status, _, complaint = enter(command, capsys, monkeypatch, next(iter(notebooks)).parent, "--notebooks")
    assert status == 2
    assert "is not empty, and may hold your answers. Choose another name" in complaint
