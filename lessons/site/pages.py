"""The pages: every lesson, and every file that it links to, with links that lead from page to page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from PIL import Image
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, TextLexer, find_lexer_class_for_filename

from lessons.site import live
from lessons.site.bench import build
from lessons.site.formulas import equation, inline
from tinyvit.support.errors import UserError

HERE = Path(__file__).parent
LESSONS, ROOT = HERE.parents[:2]
PROGRESS = ROOT / ".pytest_cache/v/lessons/progress"  # as lessons/conftest.py leaves it
STYLES = {"light": "default", "dark": "github-dark"}  # of code
COMMAND = re.compile(r"(?:python3?|pytest|pip|git|mpiexec|source|\.venv)\b")


def course(pyodide: Path | None = None) -> dict[str, bytes]:
    """All files of the site, by their paths in it; those of Pyodide, too, if their folder is given."""
    site = Site(has_pyodide=pyodide is not None)
    files = build.files(pyodide)
    for source in site.sources:  # which grows while pages link to others
        text = source.read_bytes()
        if source.suffix != ".png":
            text = (site.lesson if source.suffix == ".md" else site.listing)(
                source, text.decode(errors="replace")
            ).encode()
        files[place(source)] = text
    style = "".join(
        f"@media (prefers-color-scheme: {scheme}) {{\n{HtmlFormatter(style=name).get_style_defs('pre')}\n}}\n"
        for scheme, name in STYLES.items()
    )
    files[live.NAME] = live.page()
    files["site.css"] = style.encode() + (HERE / "site.css").read_bytes()
    files |= {name: (HERE / name).read_bytes() for name in ("site.js", "moving.js")}
    files["search.js"] = f"const SECTIONS = {json.dumps(site.sections, ensure_ascii=False)};\n".encode()
    return files


def place(source: Path) -> str:
    """The path of a file's page: that of lessons/README.md is index.html."""
    inside = source.is_relative_to(LESSONS)
    path = source.relative_to(LESSONS) if inside else "repository" / source.relative_to(ROOT)
    if source.suffix == ".md":
        return path.with_name("index.html" if path.stem == "README" else f"{path.stem}.html").as_posix()
    return path.as_posix() if source.suffix == ".png" else f"{path.as_posix()}.html"


def contents(text: str) -> dict[str, dict[Path, str]]:
    """Titles of lessons by their README.md, in groups: from the tables of the course's README.md.

    The name of a group is the heading that stands above its lessons.
    """
    name, groups = "", {"": {LESSONS / "README.md": "The course"}}
    for line in text.splitlines():
        lesson = re.match(r"\|.*?\[\**(.+?)\**\]\((\d\d)(_\w+/README\.md)\)", line)
        group = re.fullmatch(r"#+ (.+)", line)
        if lesson:
            groups.setdefault(name, {})[LESSONS / (lesson[2] + lesson[3])] = f"{lesson[2]} {lesson[1]}"
        elif group:
            name = group[1]
    others = {LESSONS / "GLOSSARY.md": "Glossary", LESSONS / "mine/README.md": "The ViT that is yours"}
    return groups | {"To look up": others}


def progress() -> dict[str, tuple[str, str]]:
    """The results of the last `pytest lessons` by lesson, in short and in words, if it has left any."""
    try:
        kept = json.loads(PROGRESS.read_text("utf-8"))
        return {name: (f"{each['done']}/{each['total']}", str(each["said"])) for name, each in kept.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def slug(heading: str) -> str:
    """The name that GitHub gives to a heading in links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(markdown: str) -> str:
    """A line of Markdown without its marks."""
    return re.sub(r"[*`$]|!?\[(?=[^]]*\]\()|\]\([^)]*\)", "", markdown)


def place_of_bench(tokens: list[Token]) -> int:
    """The index of the heading that ends the section "Your turn"; if there is none, of the first heading."""
    heads = [i for i, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2")]
    turn = next((k for k, i in enumerate(heads) if tokens[i + 1].content.startswith("Your turn")), -1)
    return heads[turn + 1]


def address(page: Path, target: str) -> str:
    """The address of a file of the site, as a page has it."""
    return os.path.relpath(target, os.path.dirname(place(page)) or ".").replace(os.sep, "/")


class Site:
    """The sources of all pages: the lessons, and whatever they link to."""

    def __init__(self, has_pyodide: bool = False) -> None:
        self.has_pyodide = has_pyodide
        self.groups = contents((LESSONS / "README.md").read_text("utf-8"))
        self.titles = {page: title for group in self.groups.values() for page, title in group.items()}
        self.order = list(self.titles)
        self.sources = list(dict.fromkeys([*self.order, *sorted(LESSONS.glob("[0-9]*/README.md"))]))
        self.progress = progress()
        self.sections: list[tuple[str, str, str, str]] = []  # address, page, heading and text, for searching
        self.template = Template((HERE / "page.html").read_text("utf-8"))
        self.markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
        self.markdown.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True)
        self.markdown.use(anchors_plugin, max_level=4, slug_func=slug, permalink=True, permalinkSymbol="#")
        rules = self.markdown.renderer.rules
        rules["math_inline"] = lambda tokens, i, *_: inline(tokens[i].content)
        rules["math_block"] = rules["math_inline_double"] = lambda tokens, i, *_: equation(tokens[i].content)
        rules["table_open"] = lambda *_: '<div class="wide"><table>\n'
        rules["table_close"] = lambda *_: "</table></div>\n"
        show_image = rules["image"]
        rules["image"] = lambda tokens, i, *rest: (
            f'<a class="figure" href="{tokens[i].attrs["src"]}">{show_image(tokens, i, *rest)}</a>'
        )
        rules["fence"] = rules["code_block"] = lambda tokens, i, *_: code(tokens[i])

    def follow(self, page: Path, link: str) -> str:
        """The address of a link in a file, as its page has it; what it leads to becomes part of the site."""
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", link) or not target:
            return link
        source = Path(os.path.normpath(page.parent / target))
        if source.is_dir():
            source /= "README.md" if (source / "README.md").exists() else "__init__.py"
        if not source.is_file():
            raise UserError(f"{page.relative_to(ROOT)} links to {target}, which is not there.")
        if source not in self.sources:
            self.sources.append(source)
        line = re.sub(r"^L(?=\d)", "L-", anchor)  # as Pygments calls it
        return address(page, place(source)) + (f"#{line}" if anchor else "")

    def lesson(self, page: Path, text: str) -> str:
        """The page of a Markdown file."""
        tokens = self.markdown.parse(text)
        for token in (child for each in tokens for child in each.children or ()):
            if token.type == "link_open":
                token.attrs["href"] = self.follow(page, str(token.attrs["href"]))
            elif token.type == "image":
                source = page.parent / str(token.attrs["src"])
                token.attrs["src"] = self.follow(page, str(token.attrs["src"]))
                with Image.open(source) as picture:  # whose size keeps its place until it is there
                    token.attrs |= {"width": picture.width, "height": picture.height}
        for before, token in pairwise(each for each in tokens if each.type != "html_block"):  # also in a fold
            if (before.info, token.info) == ("python", "text"):
                token.info = "output"
        for token in tokens:
            if token.content.strip() == live.PLACE:
                token.content = live.frame(address(page, live.NAME))
        title = plain(next(token.content for token in tokens if token.type == "inline"))
        heads = [
            (str(token.attrs["id"]), plain(inside.content))
            for token, inside in pairwise(tokens)
            if (token.type, token.tag) == ("heading_open", "h2")
        ]
        self.note_sections(page, title, tokens)
        self.put_bench(page, tokens)
        return self.page(page, title, self.markdown.renderer.render(tokens, self.markdown.options, {}), heads)

    def note_sections(self, page: Path, title: str, tokens: list[Token]) -> None:
        """Note the text of a page, section by section, for its search."""
        for token, inside in pairwise(tokens):
            if token.type == "heading_open":
                where = f"{place(page)}#{token.attrs['id']}"
                self.sections.append((where, title, plain(inside.content), ""))
            elif inside.type == "inline":
                *section, text = self.sections[-1]
                self.sections[-1] = (*section, f"{text} {plain(inside.content)}".strip())

    def put_bench(self, page: Path, tokens: list[Token]) -> None:
        """Put the bench where a lesson has said what to write, or where the ladder has been explained."""
        if page in self.titles and page.parent != LESSONS:
            bench = Token("html_block", "", 0, content=build.bench(page.parent.name, self.has_pyodide))
            tokens.insert(place_of_bench(tokens), bench)

    def listing(self, source: Path, text: str) -> str:
        """The page of a source file, each line with its number."""
        lexer = (find_lexer_class_for_filename(source.name) or TextLexer)()
        shape = HtmlFormatter(linenos="inline", anchorlinenos=True, linespans="L", lineanchors="L")
        name = source.relative_to(ROOT).as_posix()
        return self.page(source, name, f"<h1>{name}</h1>\n{highlight(text, lexer, shape)}")

    def page(self, page: Path, title: str, text: str, heads: Sequence[tuple[str, str]] = ()) -> str:
        """A whole page, around its text; heads are the anchors and titles of its sections, for the menu."""
        said = self.progress.get(page.parent.name, ("", ""))[1] if page in self.titles else ""
        steps = f"<span>{self.entry(page, self.order[0])}</span>"
        if page in self.titles:
            i = self.order.index(page)
            around = ("prev", self.order[max(i - 1, 0) : i]), ("next", self.order[i + 1 : i + 2])
            links = ["".join(self.entry(page, each, f'rel="{rel}"') for each in some) for rel, some in around]
            steps = "<span>{}</span><span>{}</span>".format(*links)
        return self.template.substitute(
            title=escape(title),
            style=address(page, "site.css"),
            bench=address(page, "bench/bench.css"),
            script=address(page, "site.js"),
            moving=address(page, "moving.js"),
            steps=steps,
            progress=f'<p class="progress">So far: {escape(said)}.</p>' if said else "",
            text=text,
            contents="".join(
                f"<p>{escape(name)}</p>\n{self.menu(page, name, heads)}" for name in self.groups
            ),
        )

    def menu(self, page: Path, group: str, heads: Sequence[tuple[str, str]]) -> str:
        """The links to the lessons of a group, with how far you are, and to the sections of this page."""
        lines = ["<ul>"]
        for lesson in self.groups[group]:
            link = self.entry(page, lesson, 'aria-current="page"' if lesson == page else "")
            score = self.progress.get(lesson.parent.name, ("", ""))[0]
            lines.append(f"<li>{link} <small>{escape(score)}</small></li>")
            if lesson == page:
                lines += (
                    f'<li class="section"><a href="#{id}">{escape(head)}</a></li>' for id, head in heads
                )
        return "\n".join([*lines, "</ul>\n"])

    def entry(self, page: Path, lesson: Path, attribute: str = "") -> str:
        """A link to a lesson by its title."""
        return f'<a href="{address(page, place(lesson))}" {attribute}>{escape(self.titles[lesson])}</a>'


def code(token: Token) -> str:
    """A block of code: a program or commands, which can be copied, or what was printed."""
    text, lines = token.content, token.content.splitlines()
    if token.info == "python":
        coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
        return f'<div class="code"><pre>{coloured}</pre></div>\n'
    if token.info != "output" and all(COMMAND.match(line) for line in lines if line):
        commands = "\n".join(line.partition("  ")[0] for line in lines)  # without the remarks beside them
        return f'<div class="code" data-copy="{escape(commands)}"><pre>{escape(text)}</pre></div>\n'
    return f'<pre class="{token.info}">{escape(text)}</pre>\n'
