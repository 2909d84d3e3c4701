import errno
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
from email.message import Message

import pytest

from tests.support.files.server import CONTENT, HALF, SHA256, serving
from tests.tiny_runs import REPOSITORY
from tinyvit.support.errors import UserError
from tinyvit.support.files import download as module
from tinyvit.support.files import locks
from tinyvit.support.files.download import download, reason_of

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data" / "file.tar.gz"


@pytest.fixture
def part(target):
    target.parent.mkdir()
    return target.with_name("file.tar.gz.part")


def test_a_file_arrives_whole_and_alone(server, target):
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]


def test_md5_is_understood_as_well(server, target):
    download(server.url, target, checksum="md5:" + hashlib.md5(CONTENT).hexdigest())
    assert target.read_bytes() == CONTENT


def test_progress_is_reported_up_to_the_end(server, target):
    reports = []
    download(server.url, target, report=lambda *numbers: reports.append(numbers))
    assert reports[-1] == (len(CONTENT), len(CONTENT))
    assert len(reports) > 2
    assert reports == sorted(reports)


def test_a_server_that_does_not_tell_the_length_will_do(server, target):
    server.tells_length = False
    reports = []
    download(server.url, target, len(CONTENT), SHA256, lambda *numbers: reports.append(numbers))
    assert target.read_bytes() == CONTENT
    assert reports[-1] == (len(CONTENT), len(CONTENT))  # as is known


def test_a_broken_download_is_kept_and_resumed(server, target):
    server.breaks_after = HALF
    with pytest.raises(UserError, match=r"lost after 512,000 of 1,024,000 bytes\. What has arrived is kept"):
        download(server.url, target, len(CONTENT), SHA256)
    assert not target.exists()
    server.breaks_after = None
    reports = []
    download(server.url, target, len(CONTENT), SHA256, lambda *numbers: reports.append(numbers))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert reports[0] == (HALF, len(CONTENT))
    assert reports[-1] == (len(CONTENT), len(CONTENT))


def test_a_server_that_ignores_the_range_sends_the_whole_file(server, target, part):
    part.write_bytes(CONTENT[:HALF])
    server.heeds_range = False
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert server.ranges == [f"bytes={HALF}-", None]


def test_a_complete_part_is_not_asked_for_again(server, target, part):
    part.write_bytes(CONTENT)
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert server.ranges == []


def test_a_part_that_may_be_complete_is_replaced(server, target, part):
    part.write_bytes(CONTENT)
    download(server.url, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges == [f"bytes={len(CONTENT)}-", None]


def test_a_part_longer_than_the_file_is_replaced(server, target, part):
    part.write_bytes(CONTENT + b"more")
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT


def test_a_wrong_checksum_deletes_the_part_and_shows_both(server, target):
    expected = "sha256:" + 64 * "0"
    with pytest.raises(UserError, match=rf"{SHA256}, expected {expected}.*--data-dir.*--data-url"):
        download(server.url, target, len(CONTENT), expected)
    assert list(target.parent.iterdir()) == []


def test_a_wrong_size_deletes_the_part_and_shows_both(server, target):
    with pytest.raises(UserError, match=r"http.*: it has 1,024,000 bytes, expected 1,234,567"):
        download(server.url, target, 1_234_567, SHA256)
    assert list(target.parent.iterdir()) == []


def test_a_server_that_never_ends_is_cut_off_at_the_expected_size(server, target, monkeypatch):
    server.ends = server.tells_length = False
    reports = []
    with pytest.raises(
        UserError, match=r"gave more than 1,024,000 bytes, expected 1,024,000: it is a differ"
    ):
        download(server.url, target, len(CONTENT), SHA256, lambda *numbers: reports.append(numbers))
    assert max(reports)[0] == len(CONTENT) + 1
    monkeypatch.setattr(module, "MOST", 2 * len(CONTENT))
    with pytest.raises(UserError, match=r"it does not end, even after 2,048,000 bytes"):
        download(server.url, target)
    assert list(target.parent.iterdir()) == []


def test_a_file_of_another_length_is_not_read_at_all(server, target):
    reports = []
    with pytest.raises(UserError, match="it has 1,024,000 bytes, expected 1,000: it is a different file"):
        download(server.url, target, 1000, SHA256, lambda *numbers: reports.append(numbers))
    assert reports == [] and list(target.parent.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///dev/zero", "ftp://127.0.0.1/a", "data:,x", "//a", "/dev/zero"])
def test_only_web_addresses_are_read(target, url):
    message = re.escape(f"cannot download {url}: expected an address that begins with https:// or http://")
    with pytest.raises(UserError, match=message):
        download(url, target)
    assert not target.parent.exists()


def test_a_server_cannot_send_us_to_other_addresses(server, target, monkeypatch):
    for server.leads_to in ("file:///etc/passwd", "ftp://127.0.0.1:1/a"):
        with pytest.raises(UserError, match="cannot download http"):
            download(server.url, target)
    server.leads_to = None
    download(server.url, target, len(CONTENT), SHA256)


@pytest.mark.parametrize("port", ["9" * 20, "65536", "-1", "x"])
def test_a_port_that_does_not_exist_is_a_users_mistake(target, port):
    with pytest.raises(UserError, match=r"cannot download http://127\.0\.0\.1"):
        download(f"http://127.0.0.1:{port}/file", target)


def test_for_a_missing_page_the_error_says_how_else_to_get_the_file(server, target):
    url = server.url.replace("/file", "/missing")
    with pytest.raises(UserError, match=rf"{url}: the server answered 404 .*--data-dir.*--data-url"):
        download(url, target)


def test_without_a_server_the_error_says_how_else_to_get_the_file(target):
    with pytest.raises(UserError, match=r"refused.*--data-dir"):
        download("http://127.0.0.1:1/file", target)


def test_a_folder_that_cannot_be_written_is_named(server, target, monkeypatch):
    def refuse(path, flags):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(module, "_no_link", refuse)
    with pytest.raises(UserError, match=r"cannot download .*file\.tar\.gz\.part: Read-only file system\."):
        download(server.url, target, len(CONTENT), SHA256)
    monkeypatch.undo()
    download(server.url, target, len(CONTENT), SHA256)


def test_progress_that_nobody_reads_is_no_fault_of_the_network(server, target):
    """As with `| head -1`: the download ends, and the next one goes on from there."""

    def report(done, total):
        if done:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        download(server.url, target, len(CONTENT), SHA256, report)
    download(server.url, target, len(CONTENT), SHA256)
    assert len(server.ranges) == 2 and server.ranges[1].startswith("bytes=")


def test_a_malformed_address_is_a_users_mistake(target):
    with pytest.raises(UserError, match="cannot download somewhere"):
        download("somewhere", target)


def test_the_last_sentence_can_be_chosen(target):
    with pytest.raises(UserError, match=r"Ask Alice\.$"):
        download("http://127.0.0.1:1/file", target, otherwise="Ask Alice.")


# Several at once.


def start(server, target, results, reports=None, **keywords):
    """A download on a thread of its own: a file lock keeps threads apart as it does processes."""
    report = None if reports is None else lambda *numbers: reports.append(numbers)

    def work():
        try:
            download(server.url, target, report=report, **keywords)
            results.append(target.read_bytes() == CONTENT)
        except UserError as error:
            results.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(module, "POLL", 0.005)


def test_a_part_that_is_moved_into_place_while_one_looks_at_it_has_no_size(target, monkeypatch):
    monkeypatch.setattr(type(target), "exists", lambda path: True)  # a moment ago
    assert module._size(target.with_name("file.tar.gz.part")) == 0


@needs_locks
def test_a_second_download_of_the_same_file_waits_for_the_first_and_uses_it(server, target, quick):
    server.holds_after = HALF
    results, reports, part = [], [], target.with_name("file.tar.gz.part")
    threads = [start(server, target, results)]
    wait_until(lambda: part.exists() and part.stat().st_size == HALF)
    threads += [start(server, target, results, reports, size=len(CONTENT)) for _ in range(2)]
    wait_until(lambda: len(reports) > 10)
    assert set(reports) == {(HALF, len(CONTENT))}  # the progress of the first one
    server.go.set()
    for thread in threads:
        thread.join()
    assert results == [True] * 3
    assert server.ranges == [None]
    assert list(target.parent.iterdir()) == [target]


@needs_locks
def test_a_second_download_resumes_what_the_first_did_not_finish(server, target, quick):
    server.holds_after, server.breaks_after = HALF - 1000, HALF
    results, reports = [], []
    first = start(server, target, results)
    wait_until(lambda: len(server.ranges) == 1)
    second = start(server, target, results, reports, checksum=SHA256)
    wait_until(lambda: reports)
    server.go.set()
    first.join()
    server.breaks_after = None
    second.join()
    assert "lost after 512,000 of 1,024,000 bytes" in results[0]
    assert results[1:] == [True]
    assert server.ranges == [None, f"bytes={HALF}-"]


@needs_locks
def test_a_download_that_was_killed_is_resumed(server, target, quick):
    server.holds_after = HALF
    program = f"from tinyvit.support.files.download import *; download({server.url!r}, Path({str(target)!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(REPOSITORY)}
    )
    part = target.with_name("file.tar.gz.part")
    wait_until(lambda: part.exists() and part.stat().st_size == HALF)
    process.kill()
    process.wait()
    server.holds_after = None
    server.go.set()
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={HALF}-"]


@needs_locks
def test_another_process_that_makes_no_progress_is_not_waited_for_forever(server, target, quick, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    target.parent.mkdir()
    with open(target.with_name("file.tar.gz.part"), "wb") as file:
        file.write(CONTENT[:HALF])
        file.flush()
        assert locks.lock(file.fileno())
        with pytest.raises(UserError, match=r"no progress for 0\.05 seconds; stop that process"):
            download(server.url, target)
    assert target.with_name("file.tar.gz.part").read_bytes() == CONTENT[:HALF]
    download(server.url, target, checksum=SHA256)
    assert server.ranges == [f"bytes={HALF}-"]


def test_without_locks_each_download_has_a_file_of_its_own(server, target, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    server.holds_after = HALF
    results = []
    threads = [start(server, target, results, checksum=SHA256) for _ in range(2)]
    wait_until(lambda: len(server.ranges) == 2)
    server.go.set()
    for thread in threads:
        thread.join()
    assert results == [True, True]
    assert list(target.parent.iterdir()) == [target]


def test_without_locks_a_broken_download_is_resumed_too(server, target, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    server.breaks_after = HALF
    with pytest.raises(UserError, match="the same command continues from there"):
        download(server.url, target)
    assert [path.name for path in target.parent.iterdir()] == ["file.tar.gz.part"]
    server.breaks_after = None
    download(server.url, target, checksum=SHA256)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert list(target.parent.iterdir()) == [target]


def test_the_rest_of_a_file_of_another_size_is_not_appended(server, target, part):
    server.whole += 1
    part.write_bytes(CONTENT[:HALF])
    download(server.url, target, len(CONTENT), SHA256)
    assert server.ranges == [f"bytes={HALF}-", None]


@needs_locks
def test_a_file_system_that_never_shows_the_same_file_twice_will_do(server, target, monkeypatch):
    monkeypatch.setattr(module, "leads_to", lambda *args: False)
    download(server.url, target, checksum=SHA256)
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows opens symbolic links")
def test_a_link_in_place_of_the_part_is_not_followed(server, target, part):
    elsewhere = target.parent / "mine"
    elsewhere.write_bytes(b"mine")
    part.symlink_to(elsewhere)
    with pytest.raises(UserError, match="symbolic link"):
        download(server.url, target, len(CONTENT), SHA256)
    assert elsewhere.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            urllib.error.HTTPError("http://a", 404, "Not Found", Message(), None),
            "the server answered 404 Not Found",
        ),
        (TimeoutError("timed out"), "it does not answer"),
        (urllib.error.URLError(TimeoutError("timed out")), "it does not answer"),
        (TimeoutError(110, "Connection timed out", "a.bin"), "a.bin: Connection timed out"),
        (PermissionError(13, "Permission denied", "a.bin"), "a.bin: Permission denied"),
        (urllib.error.URLError(OSError(111, "Connection refused")), "Connection refused"),
        (urllib.error.URLError("unknown url type"), "unknown url type"),
        (ValueError("odd"), "odd"),
    ],
)
def test_why_a_download_failed_is_said_in_words(error, said):
    assert reason_of(error) == said
