"""The bench on the course's pages: its Python under CPython, its kernel natively, all of it in a browser."""

import ctypes
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from lessons.site.bench import build
from tests.insight.page.chromium import Chromium, find_browser
from tests.insight.page.firefox import Firefox, find_firefox
from tests.lessons.course import NEED_A_COMPILER, QUICKER, ROOT, every_lesson
from tinyvit.support.errors import UserError

LESSON = ROOT / "lessons/07_layer_norm"
PYODIDE = os.environ.get("TINYVIT_PYODIDE")  # a folder with the files that parts.json names

# in_page as worker.js calls it; what it tells is printed, a line for each call.
DRIVER = """
import json, sys
from pathlib import Path
from lessons.site.bench import in_page

out = sys.stdout
for what, *arguments in json.load(sys.stdin):
    told = []
    answer = getattr(in_page, what)(*arguments, *([] if what == "write" else [told.append]))
    print(json.dumps([answer and json.loads(answer), *map(json.loads, told)]), file=out, flush=True)
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The course as a page's Python has it."""
    pytest.importorskip("pygments", reason='pip install -e ".[site]"')
    folder = tmp_path_factory.mktemp("course")
    (folder / "course.zip").write_bytes(build.course())
    with zipfile.ZipFile(folder / "course.zip") as archive:
        archive.extractall(folder)
    return folder


def asked(folder, *calls):
    """The answer and the messages of in_page for each call, run where only the archive can be imported."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=folder,
        env=environment,
        input=json.dumps(calls),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def solution(lesson=LESSON):
    return (lesson / "solution.py").read_text("utf-8")


def wrong_text():
    """The solution with a path left out, as a learner would have written it."""
    right = "direct + through_mean + through_r"
    assert right in solution()
    return solution().replace(right, "direct + through_r")


def exercise(text, lesson=LESSON):
    return {f"{lesson.name}/exercise.py": text}


def test_checks_are_told_one_by_one_in_the_words_of_the_terminal(unpacked):
    unwritten, _, right, _, wrong = asked(
        unpacked,
        ("check", LESSON.name),
        ("write", exercise(solution())),
        ("check", LESSON.name),
        ("write", exercise(wrong_text())),
        ("check", LESSON.name),
    )
    answer, count, *checks = unwritten
    assert count == {"checks": len(checks)}
    assert {each["state"] for each in checks} == {"to do"}
    assert checks[0]["text"].startswith("to do: write layer_norm")
    assert answer["done"] == 0
    assert answer["said"].startswith(f"0 of {answer['total']} checks")

    answer, _, *checks = right
    assert {each["state"] for each in checks} == {"done"}
    assert answer["done"] == answer["total"] > 10

    answer, _, *checks = wrong
    failed = [each for each in checks if each["state"] == "wrong"]
    assert answer["said"].startswith(f"{answer['done']} of {answer['total']} checks, {len(failed)} wrong")
    faults = failed[-1]["faults"]
    assert 1 <= len(faults) < len(failed)
    terminal = in_the_terminal(unpacked)
    for fault in faults:
        assert " ".join(" ".join(text.split()) for _, text in fault["lines"]) in terminal


def in_the_terminal(folder):
    command = [sys.executable, "-m", "pytest", f"lessons/{LESSON.name}", "-p", "no:cacheprovider", *QUICKER]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return " ".join(done.stdout.split())


def test_what_an_answer_prints_is_told_with_its_fault(unpacked):
    text = re.sub(
        r"(def layer_norm_backward\(.*\n)", r'\1    print("shapes", dy.shape); dy.nothing' + "\n", solution()
    )
    _, (_, _, *checks) = asked(unpacked, ("write", exercise(text)), ("check", LESSON.name))
    fault = next(each for each in checks if each["state"] == "wrong")["faults"][0]
    (_, sentence), (kind, code), *_ = fault["lines"]
    assert re.match(r"AttributeError: .*'nothing'", sentence)
    assert kind == "code" and re.match(r"exercise\.py, line \d+: print", code)
    assert fault["printed"].startswith("shapes (")


def test_a_check_that_needs_a_compiler_says_that_a_page_has_none(unpacked, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    lesson = ROOT / "lessons/29_flash_attention"
    _, (answer, _, *checks) = asked(
        unpacked, ("write", exercise(solution(lesson), lesson)), ("check", lesson.name)
    )
    left_out = [each for each in checks if each["state"] == "not here"]
    assert {each["text"] for each in left_out} == {"a page has no compiler"}
    assert answer["done"] == answer["total"] > 10  # the others are counted


def test_listings_run_on_what_stands_above_them(unpacked):
    first, second, wrong = "x = 3\nprint('three')", "x += 1\nprint(x)", "print('so far')\nx / 0\n"
    calls = [("run", "page", [first, second]), ("run", "page", [first, second, wrong])]
    calls += [("run", "page", [first]), ("run", "page", [first, second]), ("run", "page", [first, second])]
    printed = [
        (answer["ran"], "".join(each["printed"] for each in told))
        for answer, *told in asked(unpacked, *calls)
    ]
    assert printed[0] == (True, "4\n")
    assert printed[1][0] is False
    assert printed[1][1].startswith('so far\nTraceback (most recent call last):\n  File "listing 3", line 2')
    assert "    x / 0\n" in printed[1][1]
    assert "in_page" not in printed[1][1]
    assert printed[2:] == [(True, "three\n"), (True, "4\n"), (True, "4\n")]


def test_lines_of_the_readers_own_use_the_exercise_beside_them(unpacked):
    lines = "from suspects import PICKS\nprint(double(len(PICKS)))\ndouble(None)"
    (_, *told) = asked(
        unpacked, ("run", "02_gradient_checking#bench", ["def double(n):\n    return 2 * n", lines])
    )[0]
    printed = "".join(each["printed"] for each in told)
    assert printed.startswith("6\nTraceback")
    assert re.findall(r'File "(.*?)", line (\d)', printed) == [
        ("the lines to try", "3"),
        ("exercise.py", "2"),
    ]


def test_a_listing_uses_what_the_reader_has_written(unpacked):
    listing = "from lessons.mine import yours\nprint(yours('layer_norm'))"
    calls = [
        ("run", "page", [listing]),
        ("write", exercise("layer_norm = 'mine'")),
        ("run", "page", [listing]),
    ]
    (_, solution), _, (_, mine) = (each[:2] for each in asked(unpacked, *calls))
    assert solution["printed"].startswith("<function layer_norm") or solution["printed"] != mine["printed"]
    assert mine["printed"] == "mine"


def test_the_ladder_is_climbed_with_every_loss(unpacked):
    """Lesson 3's rung: the first lessons are solved."""
    files = {}
    for name in ("00_pixels", "01_softmax_cross_entropy", "03_linear"):
        text = solution(ROOT / "lessons" / name)  # imports some functions, where a learner writes them
        names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", text, re.S)[1])
        files |= exercise("\n".join([text, *(f"{each} = {each}" for each in names)]), Path(name))
    _, (answer, *told) = asked(unpacked, ("write", files), ("climb", "exercise"))
    losses = [each["loss"] for each in told if "loss" in each]
    printed = "".join(each.get("printed", "") for each in told)
    assert len(losses) == 160
    assert abs(losses[0] - np.log(10)) < 0.1
    assert re.search(r"\+ a linear classifier +lesson 3  #+ +1\d\.\d%", printed)
    assert "a linear classifier" in answer["reached"]


@every_lesson
def test_every_lesson_has_a_bench_with_its_exercise(lesson):
    text = build.bench(lesson.name, is_local=False)
    assert (lesson / "exercise.py").read_text("utf-8").split("\n")[0].replace("<", "&lt;") in text
    assert "from cdn.jsdelivr.net" in text
    assert ("has no threads" in text) == (lesson.name in ("26_fast_cpu", "30_many_devices"))
    assert ("has no compiler" in text) == (lesson.name in NEED_A_COMPILER)


def test_the_parts_of_python_are_those_that_were_tested(tmp_path, monkeypatch):
    monkeypatch.setitem(build.PARTS, "files", {"a.whl": build.integrity(b"right")})
    with pytest.raises(UserError, match=r"^there is no a\.whl in .*\. Unpack https://github\.com/pyodide/"):
        build.files(tmp_path)
    (tmp_path / "a.whl").write_bytes(b"wrong")
    with pytest.raises(UserError, match=r"a\.whl is not the file of Pyodide 0\.27\.7"):
        build.files(tmp_path)
    (tmp_path / "a.whl").write_bytes(b"right")
    files = build.files(tmp_path)
    assert files["bench/pyodide/a.whl"] == b"right"
    assert json.loads(files["bench/parts.json"])["from"] == "pyodide/"


# The kernel, compiled for this machine and for a page.


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """The two loops, as functions of NumPy arrays."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or sys.platform == "win32":
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("matmul") / "matmul.so"
    source = build.HERE / "matmul.c"
    subprocess.run([compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", path, source], check=True)
    library = ctypes.CDLL(str(path))
    scratch = np.empty(70016, np.uint8)

    def product(a, b, c):
        loop = {"f": library.matmul_float, "d": library.matmul_double}[c.dtype.char]
        sizes = np.array([len(a), *a.shape[1:], b.shape[-1]], np.intp)
        outer, inner = zip(*((each.strides[0], each.strides[1:]) for each in (a, b, c)), strict=True)
        steps = np.array([*outer, *sum(inner, ())], np.intp)
        args = np.array([each.ctypes.data for each in (a, b, c)], np.uintp)
        aligned = scratch.ctypes.data + -scratch.ctypes.data % 16
        loop(*(ctypes.c_void_p(each.ctypes.data) for each in (args, sizes, steps)), ctypes.c_void_p(aligned))
        return c

    return product


LAYOUTS = {
    "plain": lambda array: array.copy(),
    "transposed": lambda array: array.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "with gaps": lambda array: np.repeat(np.repeat(array, 3, -1), 2, -2)[..., ::2, ::3],
    "backward": lambda array: array[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
    "one for all": lambda array: np.broadcast_to(array[:1], array.shape),
    "batch last": lambda array: np.moveaxis(np.moveaxis(array, 0, -1).copy(), -1, 0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_the_kernel_multiplies_on_any_strides(loops, left, right, dtype):
    rng = np.random.default_rng(0)
    for m, k, n in ((1, 1, 1), (2, 16, 16), (3, 5, 7), (5, 8, 33), (1, 40, 3), (4, 0, 3), (3, 2500, 17)):
        a = LAYOUTS[left](rng.normal(size=(3, m, k)).astype(dtype))
        b = LAYOUTS[right](rng.normal(size=(3, k, n)).astype(dtype))
        around = np.full((3, n + 2, m + 4), 9, dtype)
        c = around[:, 1:-1, 2:-2].swapaxes(1, 2)
        loops(a, b, c)
        tolerance = 5e-4 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(c, np.einsum("bmk,bkn->bmn", a, b), atol=tolerance, err_msg=f"{m, k, n}")
        around[:, 1:-1, 2:-2] = 9
        assert (around == 9).all()


def test_the_compiled_kernel_is_that_of_its_source(tmp_path):
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("pip install ziglang, which compiles C for WebAssembly")
    from importlib.metadata import version

    source = (build.HERE / "matmul.c").read_text("utf-8")
    tested = re.search(r"ziglang (\S+),", source)[1]
    if version("ziglang") != tested:
        pytest.skip(f"it was compiled by ziglang {tested}")
    command = re.search(r"-m ziglang cc .* matmul\.c\n", source, re.S)[0].replace("//", "").split()
    out = command.index("matmul.wasm")
    command[out] = str(tmp_path / "matmul.wasm")
    subprocess.run([sys.executable, *command], cwd=build.HERE, check=True)
    assert (tmp_path / "matmul.wasm").read_bytes() == (build.HERE / "matmul.wasm").read_bytes()


# In a browser.


class Host(SimpleHTTPRequestHandler):
    """Files of a folder, for pages of any host, without a log."""

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """The address of a server of this folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Host, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the course with Python beside it, and its folder."""
    if not PYODIDE:
        pytest.skip("TINYVIT_PYODIDE names no folder with the files of lessons/site/bench/parts.json")
    pages = pytest.importorskip("lessons.site.pages", reason='pip install -e ".[site]"')
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages.live, "page", lambda: b"")  # which would train a model
        files = pages.course(Path(PYODIDE))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with served(folder) as address:
        yield address, folder


class Reader:
    """Somebody with a page open."""

    def __init__(self, address, browser=Chromium):
        if {Chromium: find_browser, Firefox: find_firefox}[browser]() is None:
            pytest.skip(f"there is no {browser.__name__} to open the pages in")
        self.tab, self.address = browser(patience=60), address

    def open(self, page):
        self.tab.go(self.address + page)
        self.tab.wait(
            "document.readyState === 'complete' && document.getElementById('bench')?.hidden === false"
        )

    def text(self, selector):
        return self.tab.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def write(self, text):
        script = f"field.value = {json.dumps(text)}; field.oninput()"
        self.tab.evaluate(
            f"(() => {{ const field = document.querySelector('#bench textarea'); {script} }})()"
        )

    def press(self, selector):
        self.tab.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
        self.tab.wait("!document.body.classList.contains('busy')")


@pytest.fixture
def reader(site, request):
    someone = Reader(site[0], getattr(request, "param", Chromium))
    yield someone
    complaints, requests = someone.tab.complaints(), someone.tab.requests()
    someone.tab.close()
    assert complaints == []
    assert [url for url in requests if not re.match(rf"{site[0]}|data:|blob:|about:", url)] == []


in_either_browser = pytest.mark.parametrize("reader", [Chromium, Firefox], indirect=True)


@pytest.mark.browser
@in_either_browser
def test_a_lesson_is_solved_in_its_page(reader):
    page = f"{LESSON.name}/index.html"
    reader.open(page)
    assert not [url for url in reader.tab.requests() if "pyodide" in url or "course.zip" in url]
    reader.press("h1 + p a[href='#bench']")
    reader.tab.wait("document.querySelector('#bench .status').textContent.startsWith('Python is ready')")
    assert reader.text("#bench .status") == "Python is ready."  # and its products are fast
    reader.press("#bench .ask")
    assert reader.text("#bench .status").startswith("0 of ")
    assert "to do: write layer_norm" in reader.text("#bench .verdicts")

    reader.write(wrong_text())
    reader.press("#bench .ask")
    assert re.search(r"checks, \d+ wrong", reader.text("#bench .status"))
    assert "The path through the mean is left out." in reader.text("#bench .verdicts li strong")
    for width in (1400, 390):
        reader.tab.view(width, 800)
        assert reader.tab.evaluate("document.documentElement.scrollWidth") == width
    reader.tab.view(1400, 900)

    reader.write(solution())
    reader.press("#bench .ask")
    done, total = re.match(
        r"(\d+) of (\d+) checks, gradient check solved", reader.text("#bench .status")
    ).groups()
    assert done == total
    field = "document.querySelector('.try textarea')"
    reader.tab.evaluate(f"{field}.value = 'print(layer_norm.__name__)'")
    reader.press(".try .run")
    assert reader.text(".try + .yours") == "layer_norm\n"
    reader.open(page)  # as if it were closed and opened again
    assert "return " in reader.tab.evaluate("document.querySelector('#bench textarea').value")
    assert f"LayerNorm {done}/{total}" in " ".join(reader.text("#contents").split())


@pytest.mark.browser
@in_either_browser
def test_a_listing_runs_and_stops(reader):
    reader.open("06_attention/index.html")
    reader.press(".code .run")
    printed = reader.text(".code + .output.yours")
    assert "Error" not in printed
    reader.tab.evaluate("document.querySelector('.code pre').textContent = 'while True: pass'")
    reader.tab.evaluate("document.querySelector('.code .run').click()")
    reader.tab.wait("document.querySelector('.output.yours').textContent.includes('running')")
    reader.press(".code .run")
    assert reader.text(".code + .output.yours") == "Stopped."


@pytest.mark.browser
def test_a_page_from_a_file_says_how_to_serve_it(site):
    someone = Reader((site[1]).as_uri() + "/")
    try:
        someone.tab.go(someone.address + f"{LESSON.name}/index.html")
        someone.tab.wait("document.readyState === 'complete'")
        assert f'python -m http.server --directory "{site[1]}/"' in someone.text("#serve")
        assert someone.tab.evaluate("document.getElementById('bench').hidden")
    finally:
        someone.tab.close()


@pytest.mark.browser
def test_python_of_another_host_runs_only_with_the_hashes_of_the_bench(site):
    address, folder = site
    parts = folder / "bench/parts.json"
    vendored = parts.read_text("utf-8")
    someone = Reader(address)
    try:
        with served(PYODIDE) as host:
            changed = json.loads(vendored) | {"from": host}
            parts.write_text(json.dumps(changed))
            someone.open("06_attention/index.html")
            someone.tab.evaluate("document.querySelector('.code pre').textContent = 'print(6 * 7)'")
            someone.press(".code .run")
            assert someone.text(".code + .output.yours") == "42\n"
            assert someone.tab.complaints() == []
            assert {url.rsplit("/")[-1] for url in someone.tab.requests() if host in url} <= {
                *changed["files"]
            }
            changed["files"]["pyodide.asm.wasm"] = build.integrity(b"another one")
            parts.write_text(json.dumps(changed))
            someone.open("06_attention/index.html")
            someone.press(".code .run")
            assert someone.text(".code + .output.yours").startswith("Python cannot be loaded: ")
    finally:
        parts.write_text(vendored)
        someone.tab.close()


@pytest.mark.browser
def test_the_editor_types_as_a_person_would_and_takes_a_file(reader, tmp_path):
    def key(name, modifiers=0, text=""):
        codes = {"Tab": 9, "Enter": 13, "z": 90}
        event = {"key": name, "windowsVirtualKeyCode": codes[name], "modifiers": modifiers, "text": text}
        reader.tab.send("Input.dispatchKeyEvent", type="keyDown", **event)
        reader.tab.send("Input.dispatchKeyEvent", type="keyUp", key=name, modifiers=modifiers)

    def type_text(text):
        reader.tab.send("Input.insertText", text=text)

    def value():
        return reader.tab.evaluate("document.querySelector('#bench textarea').value")

    reader.open("00_pixels/index.html")
    reader.press("#bench summary")
    reader.write("")
    reader.tab.evaluate("document.querySelector('#bench textarea').focus()")
    type_text("def normalise(images):")
    key("Enter", text="\r")
    type_text("x = 1")
    key("Enter", text="\r")
    key("Tab")
    type_text("y")
    assert value() == "def normalise(images):\n    x = 1\n        y"
    shift, control = 8, 2
    key("Tab", shift)
    assert value() == "def normalise(images):\n    x = 1\n    y"
    reader.tab.evaluate("document.querySelector('#bench textarea').select()")
    key("Tab")
    assert value() == "    def normalise(images):\n        x = 1\n        y"
    reader.tab.evaluate("document.execCommand('undo')")
    assert value() == "def normalise(images):\n    x = 1\n    y"
    assert reader.text("#bench .lines").split() == ["1", "2", "3"]
    assert reader.text("#bench .colours").rstrip("\n") == value()

    reader.write("import numpy\n\ny")
    key("Enter", control)
    reader.tab.wait("!document.body.classList.contains('busy')")
    assert reader.text("#bench .verdicts li strong").startswith("NameError: name 'y'")
    assert reader.text("#bench .verdicts li pre").startswith("exercise.py, line 3: y")
    reader.press("#bench .verdicts button")
    chosen = (
        "(f => f.value.slice(f.selectionStart, f.selectionEnd))(document.querySelector('#bench textarea'))"
    )
    assert reader.tab.evaluate(chosen) == "y"

    (tmp_path / "mine.py").write_text("from_a_file = True\n")
    reader.tab.send("Page.setInterceptFileChooserDialog", enabled=True)
    x, y = reader.tab.place("#bench .upload")
    reader.tab.mouse("mousePressed", x, y)
    reader.tab.mouse("mouseReleased", x, y)
    reader.tab.evaluate("new Promise((done) => setTimeout(done, 300))")
    opened = next(e for e in reader.tab.events if e.get("method") == "Page.fileChooserOpened")
    node = opened["params"]["backendNodeId"]
    reader.tab.send("DOM.setFileInputFiles", files=[str(tmp_path / "mine.py")], backendNodeId=node)
    reader.tab.wait("document.querySelector('#bench textarea').value.startsWith('from_a_file')")
    reader.tab.evaluate("window.confirm = () => true")
    reader.press("#bench .afresh")
    assert value() == (ROOT / "lessons/00_pixels/exercise.py").read_text("utf-8")
    assert reader.tab.evaluate("localStorage.getItem('tinyvit file 00_pixels/exercise.py')") is None
