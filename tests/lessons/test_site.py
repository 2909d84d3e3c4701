"""`python -m lessons.site`: the course as pages that work, in a folder of its own."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest

from lessons.site import __main__ as command
from lessons.site.folder import check_replaceable, write
from tests.insight.page.chromium import Chromium, find_browser
from tests.lessons.course import LESSONS, NAMES, QUICKER, ROOT, listings_of
from tests.lessons.test_bench import served
from tests.tiny_runs import enter
from tinyvit import ops
from tinyvit.support.errors import UserError

PROGRESS = {"07_layer_norm": {"done": 7, "total": 9, "said": "7 of 9 checks, 1 wrong, puzzle <open>"}}
VOID = {"meta", "link", "img", "br", "hr", "wbr", "input"}  # elements without an end


class Page(HTMLParser):
    """The parts of a page that the tests look for."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loaded, self.open = path, [], [], [], []
        self.text = dict.fromkeys(("prose", "code", "output", "pre", "details", "nav"), "")
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += filter(None, [attributes.get("id")])
        self.links += filter(None, [attributes.get("href")]) if tag == "a" else []
        self.loaded += [
            attributes[name] for name in ("src", "href", "srcset") if tag != "a" and name in attributes
        ]
        if tag not in VOID:
            self.open.append((tag, attributes.get("class")))

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop()[0] == tag, f"</{tag}> in {self.path}"

    def handle_data(self, data):
        kinds = {name for tag, kind in self.open for name in (tag, kind)}
        for name in {"code", "output", "pre", "details", "nav"} & kinds:
            self.text[name] += data
        if not kinds & {"pre", "code", "nav", "math", "title", "textarea"}:
            self.text["prose"] += data


@pytest.fixture(scope="module")
def pages_module():
    """lessons.site.pages, which needs the packages of the extra."""
    for package in command.PACKAGES:
        pytest.importorskip(package, reason='pip install -e ".[site]"')
    return importlib.import_module("lessons.site.pages")


@pytest.fixture(scope="module")
def site(pages_module, tmp_path_factory):
    """The course, written for somebody who has begun lesson 7."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "progress").write_text(json.dumps(PROGRESS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages_module, "PROGRESS", folder / "progress")
        patch.setattr(pages_module.live, "PICTURES", 50)
        patch.setattr(pages_module.live, "EPOCHS", 1)
        write(folder / "out", pages_module.course())
    return folder / "out"


@pytest.fixture(scope="module")
def pages(site):
    """All pages of the course, by their paths in the site."""
    paths = sorted(set(site.rglob("*.html")) - {site / "live.html"})
    return {path.relative_to(site).as_posix(): Page(path) for path in paths}


def formulas_of(pages_module, source):
    tokens = pages_module.Site().markdown.parse(source.read_text("utf-8"))
    return [each for token in tokens for each in (token, *(token.children or ())) if "math" in each.type]


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site, pages):
    known = {page.path: set(page.ids) for page in pages.values()}
    followed = 0
    for name, page in pages.items():
        for link in [*page.links, *page.loaded]:
            if not re.match(r"https?:|data:", link):
                target, _, anchor = unquote(link).partition("#")
                path = Path(os.path.normpath(page.path.parent / target)) if target else page.path
                assert path.is_file() and path.is_relative_to(site), f"{name} links to {link}"
                assert not anchor or anchor in known[path], f"{name} links to {link}"
                followed += 1
    assert followed > 5000


def test_it_loads_nothing_from_elsewhere(site, pages):
    assert [each for page in pages.values() for each in page.loaded if "//" in each] == []
    assert "//" not in re.sub(r"^// .*", "", (site / "site.js").read_text("utf-8"), flags=re.M)
    assert not re.search(r"url\(|@import", (site / "site.css").read_text("utf-8"))


def test_every_lesson_has_a_page_and_its_place_in_the_contents(pages):
    lessons = [link for link in pages["index.html"].links if re.match(r"\d\d_\w+/index.html$", link)]
    assert list(dict.fromkeys(lessons)) == [f"{name}/index.html" for name in NAMES]
    for before, name, after in zip(NAMES, NAMES[1:], NAMES[2:], strict=False):
        steps = [f"../{before}/index.html", f"../{after}/index.html"]
        assert pages[f"{name}/index.html"].links[:2] == steps
        assert "The core" in pages[f"{name}/index.html"].text["nav"]


def test_a_link_to_a_line_shows_the_function_on_it(site, pages):
    links = [link for link in pages["06_attention/index.html"].links if "ops/attention.py.html#L-" in link]
    page, number = links[1].split("#L-")
    text = (site / "06_attention" / page).resolve().read_text("utf-8")
    line = text.split(f'<span id="L-{number}">')[1].split("<span id=")[0]
    assert re.match(rf"{number} *def attention_backward", re.sub("<[^>]*>", "", line))


def test_every_formula_of_the_course_becomes_mathml(pages_module, pages):
    count = 0
    for source in [*(ROOT / "lessons").glob("*.md"), *(ROOT / "lessons").glob("*/*.md")]:
        for token in formulas_of(pages_module, source):
            show = pages_module.inline if token.type == "math_inline" else pages_module.equation
            tree = ElementTree.fromstring(f"<p>{show(token.content).replace('<wbr>', '')}</p>")
            assert "\\" not in "".join(tree.itertext()), f"{source}: {token.content}"
            tag = re.search(r"\\tag\{(.*?)\}", token.content)
            assert not tag or tree.findtext(".//span") == f"({tag[1]})"
            count += 1
    assert count > 2000
    assert [name for name, page in pages.items() if "$" in page.text["prose"]] == []


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\mathrm{mean}(x)", "<mi>mean</mi>"),
        (r"\frac{1}{\text{inputs} + \text{outputs}}", "<mi>inputs</mi><mo>+</mo><mi>outputs</mi>"),
        (r"x \log y", '<mi>x</mi><mo lspace="0.17em" rspace="0.17em">log</mo><mi>y</mi>'),
        (r"\log(y)", '<mo lspace="0.17em" rspace="0">log</mo><mo stretchy="false">(</mo>'),
        (r"= \log y", '<mo>=</mo><mo lspace="0" rspace="0.17em">log</mo>'),
        (r"(-1)", '<mo form="prefix">−</mo><mn>1</mn>'),
        (r"x - 1", "<mi>x</mi><mo>−</mo><mn>1</mn>"),
        (r"a \pm b", "<mo>±</mo>"),
        (r"|x|", '<mo stretchy="false" lspace="0" rspace="0">|</mo><mi>x</mi>'),
        (r"f'", '<mo class="prime">′</mo>'),
        (r"\Bigl\lfloor x \Bigr\rfloor", ">⌊</mo><mi>x</mi>"),
        (r"\Bigl(x\Bigr)^n", '<msup><mrow><mo stretchy="true"'),
        (r"a < b", "<mi>a</mi><mo>&#x0003C;</mo><mi>b</mi>"),
        (
            r"y = x + \mathrm{attention}(\mathrm{norm}(x) + 1)",
            '<wbr><math xmlns="http://www.w3.org/1998/Math/M',
        ),
    ],
)
def test_what_is_mended_in_formulas(pages_module, latex, expected):
    assert expected in pages_module.inline(latex)


def test_a_long_formula_breaks_only_outside_brackets(pages_module):
    assert pages_module.inline(r"y = x + \mathrm{attention}(\mathrm{norm}(x) + 1)").count("<wbr>") == 2
    assert "<wbr>" not in pages_module.inline("y = x + 1")


def test_the_menu_has_the_sections_of_the_page(pages):
    page = pages["06_attention/index.html"]
    assert "#your-turn" in page.links
    assert "Why the root of K?" in page.text["nav"]
    assert "Why the root of K?" not in pages["07_layer_norm/index.html"].text["nav"]


def test_every_section_can_be_found(site, pages):
    sections = json.loads(
        re.fullmatch(r"const SECTIONS = (.*);\n", (site / "search.js").read_text("utf-8"))[1]
    )
    for address, _, heading, _ in sections:
        name, anchor = address.split("#")
        assert anchor in pages[name].ids, f"{address}: {heading}"
    found = {address.split("/")[0] for address, _, _, text in sections if "LayerNorm" in text}
    assert {"07_layer_norm", "08_vit"} <= found


def test_folds_hold_formatted_text(pages):
    for name in NAMES:
        page = pages[f"{name}/index.html"]
        assert "Answer" in page.text["details"]
        assert not re.search(r"\*\*|```|\]\(", page.text["prose"]), name


def test_what_can_be_copied_is_the_code_without_what_it_prints(pages):
    for lesson in LESSONS:
        page = pages[f"{lesson.name}/index.html"]
        for code, printed in listings_of(lesson):
            assert code in page.text["code"]
            assert printed in page.text["output"]
    assert 'data-copy="python -m venv .venv' in pages["00_pixels/index.html"].path.read_text("utf-8")
    assert "# or python3" in pages["00_pixels/index.html"].text["code"]
    copied = re.findall(r'data-copy="(.*?)"', pages["00_pixels/index.html"].path.read_text("utf-8"), re.S)
    assert "# or python3" not in "".join(copied)


def test_it_shows_how_far_you_are(pages):
    page = pages["07_layer_norm/index.html"]
    assert "So far: 7 of 9 checks, 1 wrong, puzzle <open>." in page.text["prose"]
    assert "LayerNorm 7/9" in page.text["nav"]
    assert "So far" not in pages["05_patches/index.html"].text["prose"]


@pytest.mark.parametrize("kept", ["no JSON", "[1]", '{"07_layer_norm": 3}', '{"07_layer_norm": {}}', "null"])
def test_progress_that_cannot_be_read_is_none(pages_module, monkeypatch, tmp_path, kept):
    (tmp_path / "progress").write_text(kept)
    monkeypatch.setattr(pages_module, "PROGRESS", tmp_path / "progress")
    assert pages_module.progress() == {}


def test_a_formula_that_cannot_be_set_is_said(pages_module):
    with pytest.raises(UserError, match=r"^latex2mathml does not know \$x\^a\^b\$; version 3\.80 knows"):
        pages_module.inline("x^a^b")


def test_a_link_to_nothing_is_said(pages_module):
    with pytest.raises(UserError, match=r"^lessons/README.md links to nowhere.py, which is not there\.$"):
        pages_module.Site().follow(ROOT / "lessons/README.md", "nowhere.py#L3")


def test_the_command_says_where_the_course_is(pages_module, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pages_module, "course", lambda pyodide: {"index.html": b"The course"})
    out = tmp_path / "new" / "course"
    for _ in range(2):  # the second time it replaces the first
        status, said, complaint = enter(command, capsys, monkeypatch, out)
        assert (status, complaint) == (0, "")
        assert said == f"wrote {out}: 1 files, 0.0 MB; open {out / 'index.html'}\n"
    assert [path.name for path in out.parent.iterdir()] == ["course"]
    (out / "mine.txt").write_text("my notes")
    status, said, complaint = enter(command, capsys, monkeypatch, out)
    assert (status, said) == (2, "")
    assert "mine.txt is something else" in complaint
    assert (out / "mine.txt").read_text() == "my notes"


@pytest.mark.browser
def test_no_page_scrolls_sideways_or_complains_in_a_browser(site, pages):
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the pages in")
    tab = Chromium()
    try:
        for name, page in pages.items():
            tab.send("Page.navigate", url=page.path.as_uri())
            tab.wait("document.readyState === 'complete'")
            tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true }); 1")
            for width in (1400, 390):
                tab.view(width, 900)
                assert tab.evaluate("document.documentElement.scrollWidth") == width, name
                high = (
                    "[...document.querySelectorAll('.wide')].filter(e => e.scrollHeight > e.clientHeight + 8)"
                )
                assert tab.evaluate(f"{high}.length") == 0, (
                    f"{name}: a box is cut off by more than its margin"
                )
                flat = "[...document.querySelectorAll('math')].filter(e => !e.getBoundingClientRect().height)"
                assert tab.evaluate(f"{flat}.length") == 0, f"{name}: a formula is not drawn"
        assert tab.evaluate("[...document.images].every(each => each.naturalWidth)")
        assert tab.complaints() == []
        assert [url for url in tab.requests() if not re.match("file:|data:|blob:|about:", url)] == []
    finally:
        tab.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", ["index.html", "14_look_inside/index.html"])
def test_a_model_runs_in_the_page_and_its_gradient_leads_to_the_lessons(site, name):
    """In a folder of a host."""
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the pages in")
    frame = "document.querySelector('iframe')"
    inside = f"{frame}.contentDocument"
    tab = Chromium()
    try:
        with served(site.parent) as host:
            tab.send("Page.navigate", url=f"{host}{site.name}/{name}")
            tab.wait("document.readyState === 'complete'")
            tab.evaluate(f"{frame}.scrollIntoView()")
            tab.wait(f"{inside}.querySelector('#headline b')?.textContent")
            for width in (1400, 390):
                tab.view(width, 900)
                tab.wait(f"Math.abs({inside}.body.offsetHeight - {frame}.offsetHeight) < 2")
                assert tab.evaluate("document.documentElement.scrollWidth") == width
                assert tab.evaluate(f"{inside}.documentElement.scrollWidth <= {frame}.offsetWidth")
            tab.evaluate(f"{inside}.querySelector('#send').click()")
            tab.wait(f"{inside}.querySelector('#arrived').textContent")
            assert tab.evaluate(f"{inside}.querySelector('#stops').offsetHeight")
            assert not tab.evaluate(f"{inside}.querySelector('#grid').offsetHeight")
            tab.evaluate(f"{inside}.querySelector('#step-source a').click()")
            tab.wait(f"location.href === '{host}{site.name}/05_patches/index.html'")
            assert tab.complaints() == []
            assert [url for url in tab.requests() if not re.match(f"{host}|blob:|data:|about:", url)] == []
    finally:
        tab.close()


@pytest.mark.browser
def test_a_click_copies_a_block_and_dark_mode_follows_the_system(site):
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the pages in")
    tab = Chromium()
    try:
        tab.view(1400, 900, dark=True)
        tab.send("Page.navigate", url=(site / "06_attention/index.html").as_uri())
        tab.wait("document.readyState === 'complete'")
        tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }; 1")
        tab.evaluate("document.querySelector('.code button').click()")
        tab.wait("document.querySelector('.code button').textContent === 'Copied'")
        first = re.search(
            r"^```python\n(.*?)^```", (LESSONS[6] / "README.md").read_text("utf-8"), re.M | re.S
        )
        assert tab.evaluate("window.copied") == first[1]
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)"
    finally:
        tab.close()


@pytest.mark.browser
def test_a_search_lists_sections_without_a_server(site):
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the pages in")
    tab = Chromium()
    try:
        tab.send("Page.navigate", url=(site / "00_pixels/index.html").as_uri())
        tab.wait("document.readyState === 'complete'")
        tab.evaluate("field.focus(); field.value = 'root of k'; field.oninput()")
        tab.wait("document.querySelector('#hits a')")
        hit = "document.querySelector('#hits a')"
        assert tab.evaluate(f"{hit}.textContent") == "Lesson 6: attention: Why the root of K?"
        tab.evaluate(f"{hit}.click()")
        tab.wait(
            "location.pathname.endsWith('06_attention/index.html') && location.hash === '#why-the-root-of-k'"
        )
        assert tab.complaints() == []
    finally:
        tab.close()


def jacobian(values):
    y, cache = ops.softmax(values[:3])
    return {"J": np.diag(y) - np.outer(y, y), "dx": ops.softmax_backward(values[3:], cache)}


def paths(x):
    n, cache = ops.layer_norm(x, np.ones(3), np.zeros(3))
    dx, _, _ = ops.layer_norm_backward(np.array([1.0, 0, 0]), cache)
    r = 1 / np.sqrt(x.var() + 1e-6)
    return {"n": n, "slopes": [r, -r / 3, dx[0] - r + r / 3, dx[0]]}


def attention(values):
    angle, length = values
    keys = np.array([[1.0, 0], [0, 1], [1, 1]])
    q = length * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    shares, _ = ops.softmax(keys @ q / np.sqrt(2))
    return {"q": q, "shares": shares, "o": shares @ (10 * keys)}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("lesson", "expected"),
    [("01_softmax_cross_entropy", jacobian), ("06_attention", attention), ("07_layer_norm", paths)],
)
def test_a_picture_that_moves_shows_what_numpy_computes(site, lesson, expected):
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the pages in")
    tab = Chromium()
    try:
        tab.send("Page.navigate", url=(site / lesson / "index.html").as_uri())
        tab.wait("document.readyState === 'complete' && document.querySelector('.moving svg')")
        least, most = (
            np.array(
                tab.evaluate(f"[...document.querySelectorAll('.moving input')].map(e => Number(e.{end}))")
            )
            for end in ("min", "max")
        )
        values = np.random.default_rng(0).uniform(least, most)
        found = tab.evaluate(f"{expected.__name__}({values.tolist()})")
        for name, numbers in expected(values).items():
            np.testing.assert_allclose(found[name], numbers, rtol=1e-9, atol=1e-12, err_msg=name)
        drawn = "document.querySelector('.moving > div').innerHTML"
        still = tab.evaluate(drawn)
        move = "e.value = e.max; e.parentNode.parentNode.oninput()"
        tab.evaluate(f"(e => {{ {move} }})(document.querySelector('.moving input'))")
        assert tab.evaluate(drawn) != still
        assert tab.complaints() == []
    finally:
        tab.close()


# What follows needs none of the packages.


@pytest.mark.parametrize("missing", [["pygments"], ["markdown_it", "latex2mathml"]])
def test_a_missing_package_is_one_sentence(tmp_path, capsys, monkeypatch, missing):
    found = {name: None if name in missing else object() for name in command.PACKAGES}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: found[name])
    names = [command.PACKAGES[name] for name in missing]
    status, said, complaint = enter(command, capsys, monkeypatch, tmp_path / "out")
    assert (status, said) == (2, "")
    expected = f"writing pages needs {', '.join(names)}: run pip install {' '.join(names)}."
    assert complaint == f"lessons.site: error: {expected}\n"
    assert not (tmp_path / "out").exists()


def test_a_folder_is_replaced_whole_if_it_was_written_here(tmp_path):
    out = tmp_path / "out"
    out.mkdir()  # an empty one will do
    write(out, {"a/b.html": b"first", "c.css": b""})
    write(out, {"d.html": b"second"})
    assert sorted(path.name for path in out.iterdir()) == ["d.html", "written-by-lessons-site.txt"]
    assert (out / "d.html").read_bytes() == b"second"


@pytest.mark.parametrize("what", ["a file", "a foreign folder", "a file more", "a link more", "a dead link"])
def test_nothing_else_is_replaced(tmp_path, what):
    out = tmp_path / "out"
    if what == "a file":
        out.write_text("mine")
    elif what == "a dead link":
        out.symlink_to(tmp_path / "nowhere")
    elif what == "a foreign folder":
        (out / "deep").mkdir(parents=True)
    else:
        write(out, {"a/b.html": b"first"})
        path = out / "a" / "mine.html"
        path.symlink_to(tmp_path) if what == "a link more" else path.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="will not be overwritten"):
        write(out, {"a/b.html": b"second"})
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^cannot create the folder .*: .* Choose another\.$"):
        write(tmp_path / "file" / "out", {})
    check_replaceable(tmp_path / "nothing")


def test_the_checks_keep_what_they_show(tmp_path):
    """The counts of the last whole run, and none of a run of a few checks."""

    def run(*words):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "lessons/00_pixels",
                "-o",
                f"cache_dir={tmp_path}",
                *QUICKER,
                *words,
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        return " ".join(re.search(r"^00_pixels +\[.*\] (.*)", done.stdout, re.M)[1].split())

    kept = tmp_path / "v" / "lessons" / "progress"
    shown = run()
    first = json.loads(kept.read_text("utf-8"))
    assert first["00_pixels"]["said"] == shown
    assert shown.startswith(f"{first['00_pixels']['done']} of {first['00_pixels']['total']} checks")
    kept.write_text(json.dumps(first | {"02_x": {}}))
    assert run("-k", "normalise") != shown
    run("--impl", "solution")
    assert json.loads(kept.read_text("utf-8")) == first | {"02_x": {}}
