import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tinyvit.errors import UserError
from tinyvit.files.download import download

CONTENT = bytes(range(256)) * 4000  # 1,024,000 bytes
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2


class Server(HTTPServer):
    """Serves CONTENT; the tests switch its habits and read what it was asked."""

    heeds_range = True
    tells_length = True
    breaks_after = None  # bytes of a response
    ranges: list  # the Range header of every request, None where there was none


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.ranges.append(wanted)
        if self.path == "/missing":
            return self.send_error(404)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.heeds_range else 0
        if start >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            return self.end_headers()
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        if server.tells_length:
            self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:][: server.breaks_after])

    def log_message(self, *arguments):
        """Keep the test's output clean."""


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as server:
        server.ranges = []
        server.url = f"http://127.0.0.1:{server.server_port}/file"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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
    assert reports[-1] == (len(CONTENT), None)


def test_a_broken_download_is_kept_and_gone_on_with(server, target):
    server.breaks_after = HALF
    with pytest.raises(UserError, match="broke after 512,000 of 1,024,000 bytes; run again"):
        download(server.url, target, len(CONTENT), SHA256)
    assert not target.exists()
    server.breaks_after = None
    reports = []
    download(server.url, target, len(CONTENT), SHA256, lambda *numbers: reports.append(numbers))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert reports[0][0] > HALF
    assert reports[-1] == (len(CONTENT), len(CONTENT))


def test_a_server_that_ignores_the_range_sends_the_file_anew(server, target, part):
    part.write_bytes(CONTENT[:HALF])
    server.heeds_range = False
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert server.ranges == [f"bytes={HALF}-"]


def test_a_complete_part_is_not_asked_for_again(server, target, part):
    part.write_bytes(CONTENT)
    download(server.url, target, len(CONTENT), SHA256)
    assert target.read_bytes() == CONTENT
    assert server.ranges == []


def test_a_complete_part_of_unknown_size_is_recognised(server, target, part):
    part.write_bytes(CONTENT)
    download(server.url, target)
    assert target.read_bytes() == CONTENT
    assert len(server.ranges) == 1


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
    with pytest.raises(UserError, match="1,024,000 bytes, expected 1,234,567"):
        download(server.url, target, 1_234_567, SHA256)
    assert list(target.parent.iterdir()) == []


def test_a_missing_page_says_how_else_to_get_the_file(server, target):
    url = server.url.replace("/file", "/missing")
    with pytest.raises(UserError, match=rf"{url}: the server answered 404 .*--data-dir.*--data-url"):
        download(url, target)


def test_a_server_that_is_not_there_says_how_else_to_get_the_file(target):
    with pytest.raises(UserError, match=r"refused.*--data-dir"):
        download("http://127.0.0.1:1/file", target)


def test_an_address_that_is_none_is_a_users_mistake(target):
    with pytest.raises(UserError, match="cannot download somewhere"):
        download("somewhere", target)


def test_the_last_sentence_can_be_chosen(target):
    with pytest.raises(UserError, match=r"Ask Alice\.$"):
        download("http://127.0.0.1:1/file", target, otherwise="Ask Alice.")
