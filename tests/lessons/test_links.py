"""Links lead somewhere: files exist, and a line that is linked by its function's name holds that function."""

import re

import pytest

from tests.lessons.course import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("lessons/**/*.md")]
every_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


@every_page
def test_links_and_figures_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), f"{target} does not exist"


@every_page
def test_a_link_to_a_heading_leads_to_one(page):
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text("utf-8")):
        aim = page.parent / target if target else page
        if aim.suffix == ".md":
            assert anchor in _anchors(aim.read_text("utf-8")), f"{aim.name} has no heading #{anchor}"


@every_page
def test_a_link_to_a_line_leads_to_the_function_it_names(page):
    for name, target, number in re.findall(r"\[`([^`\]]+)`\]\(([^)#\s]+)#L(\d+)\)", page.read_text("utf-8")):
        lines = (page.parent / target).read_text("utf-8").splitlines()
        line = lines[int(number) - 1] if int(number) <= len(lines) else ""
        plain = name.split("(")[0].rsplit(".", 1)[-1]
        assert re.match(rf"\s*(?:def|class) {plain}\b|{plain}\b.* = ", line), (
            f"{name}: line {number} is {line!r}"
        )


@every_page
def test_no_link_to_a_line_without_a_name(page):
    for text, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+#L\d+[^)\s]*)\)", page.read_text("utf-8")):
        assert re.fullmatch(r"`[^`]+`", text), (
            f"the link to {target} has no function's name as its text: {text}"
        )


def _anchors(text: str) -> set[str]:
    """The names of a page's headings in links: small letters, digits, and hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
