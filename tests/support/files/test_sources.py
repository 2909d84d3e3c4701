"""Several sources of one file: the next is taken where one is slow, silent, broken or wrong."""

import contextlib

import pytest

from tests.support.files.server import CONTENT, HALF, SHA256, serving
from tinyvit.support.errors import UserError
from tinyvit.support.files import download as module
from tinyvit.support.files.download import download

SIZE = len(CONTENT)
BAD = {
    "is silent": {"holds_after": 0},
    "stalls": {"holds_after": HALF},
    "is slow": {"pace": 5_000},
    "breaks off": {"breaks_after": HALF},
    "says less than it has": {"content": CONTENT[:HALF]},
    "says more than it has": {"content": CONTENT + b"more"},
    "sends a web page": {"content": b"<html>moved</html>", "kind": "text/html"},
    "sends a web page of no length": {"content": b"<html>", "kind": "text/html", "tells_length": False},
    "sends another file": {"content": CONTENT[::-1]},
    "leads elsewhere": {"leads_to": "file:///etc/passwd"},
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 0.1)
    monkeypatch.setattr(module, "SLOW", 20_000_000)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data" / "file.tar.gz"


@contextlib.contextmanager
def sources(*habits):
    """Servers with these habits, and their addresses."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(serving(**each)) for each in habits]
        yield servers, [server.url for server in servers]


@pytest.mark.parametrize("habits", BAD.values(), ids=BAD)
def test_a_bad_source_is_left_for_a_good_one(target, habits):
    with sources(habits, {}) as (_, urls):
        download(urls, target, SIZE, SHA256)
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("habits", [BAD["stalls"], BAD["breaks off"]], ids=["stalls", "breaks off"])
def test_what_one_source_has_sent_is_continued_at_the_next(target, habits):
    with sources(habits, {}) as (servers, urls):
        download(urls, target, SIZE, SHA256)
    assert servers[1].ranges == [f"bytes={HALF}-"]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("others", [1, 0])
@pytest.mark.parametrize("habits", [{"heeds_range": False}, {"wrong_range": True}], ids=str)
def test_a_source_that_cannot_continue_is_left_for_another_or_begins_anew(target, habits, others):
    target.parent.mkdir()
    target.with_name("file.tar.gz.part").write_bytes(CONTENT[:HALF])
    with sources(habits, *[{}] * others) as (servers, urls):
        download(urls, target, SIZE, SHA256)
    assert servers[-1].ranges == [f"bytes={HALF}-"] + [None] * (not others)
    assert target.read_bytes() == CONTENT


def test_a_wrong_part_does_not_spoil_a_good_source(target):
    target.parent.mkdir()
    target.with_name("file.tar.gz.part").write_bytes(b"x" * HALF)
    with sources({}) as (servers, urls):
        download(urls, target, SIZE, SHA256)
    assert servers[0].ranges == [f"bytes={HALF}-", None]
    assert target.read_bytes() == CONTENT


def test_a_source_of_another_file_costs_what_is_there_but_not_the_next_source(target):
    with sources(BAD["stalls"], BAD["sends another file"], {}) as (servers, urls):
        download(urls, target, SIZE, SHA256)
    assert [server.ranges for server in servers] == [[None], [f"bytes={HALF}-", None], [None]]
    assert target.read_bytes() == CONTENT


def test_if_all_are_slow_the_first_is_returned_to_and_kept(target):
    with sources({"pace": 20_000}, {"pace": 10_000}) as (servers, urls):
        download(urls, target, SIZE, SHA256)
    assert target.read_bytes() == CONTENT
    assert [len(server.ranges) for server in servers] == [2, 1]


def test_if_all_fail_each_has_a_line_and_the_last_says_how_to_get_the_file_by_hand(target):
    with sources(BAD["sends a web page"], {"breaks_after": 100_000}, {}) as (_, urls):
        urls[2] = urls[2].replace("/file", "/missing")
        with pytest.raises(UserError) as failed:
            download(urls, target, SIZE, SHA256, otherwise="Ask Alice.")
    first, *lines, last = str(failed.value).splitlines()
    assert "file.tar.gz" in first and last.endswith("Ask Alice.")
    for url, line, reason in zip(urls, lines, ("web page", "200,000 of 1,024,000", "404"), strict=True):
        assert url in line and reason in line
    assert target.with_name("file.tar.gz.part").stat().st_size == 200_000
