import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.weights.checkpoints import assert_same, complaint, random_model
from tinyvit.support.files import cache_folder
from tinyvit.weights import known
from tinyvit.weights.known import KNOWN, Known, find_weights
from tinyvit.weights.read import load_weights
from tinyvit.weights.save import save_official


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Keep the test's output clean."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def published(tmp_path, cache, monkeypatch):
    """One model on a server here, under three known names."""
    folder = tmp_path / "server"
    folder.mkdir()
    save_official(folder / "model.npz", *random_model())
    content = (folder / "model.npz").read_bytes()
    checksum = "sha256:" + hashlib.sha256(content).hexdigest()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/model.npz"
        names = {
            "Tiny-1": Known(url, len(content), checksum),
            "Tiny-2": Known(url),
            "Wrong": Known(url, len(content), "sha256:" + 64 * "0"),
            "Gone": Known(url.replace("model", "gone")),
        }
        monkeypatch.setattr(known, "KNOWN", names)
        yield folder / "model.npz"
        server.shutdown()
        thread.join()


def test_a_known_name_is_fetched_into_the_cache_once(published, cache):
    reports = []
    path = find_weights("Tiny-1", lambda *numbers: reports.append(numbers))
    assert path.parent == cache and reports
    assert_same(load_weights(path), random_model())
    published.unlink()
    assert find_weights("tiny-1") == path  # however it is spelled, and without the server


def test_two_names_never_share_a_file(published, cache):
    assert find_weights("Tiny-1") != find_weights("Tiny-2")
    assert len(list(cache.iterdir())) == 2


def test_another_content_than_the_published_one_is_not_kept(published, cache):
    message = complaint(find_weights, "Wrong")
    assert "expected sha256:000" in message and "give the path of the file" in message
    assert list(cache.iterdir()) == []


def test_a_missing_file_says_how_else_to_get_it(published, cache):
    message = complaint(find_weights, "Gone")
    assert "404" in message and "Download it by other means" in message


def test_a_path_is_a_path(tmp_path, cache):
    (tmp_path / "weights").touch()
    assert find_weights(str(tmp_path / "weights")) == tmp_path / "weights"
    assert find_weights("nowhere/model.npz").name == "model.npz"  # load_weights says that it is not there
    assert not cache.exists()


def test_an_unknown_name_lists_the_known_ones(cache):
    message = complaint(find_weights, "ViT-Z_99")
    assert "ViT-Z_99 is not a run folder, a file, or a known name" in message
    assert "ViT-B_16-in21k" in message and "Ti_16-224" in message


def test_the_known_names_are_of_different_files():
    assert len({file.url for file in KNOWN.values()}) == len(KNOWN)
    assert len({name.lower() for name in KNOWN}) == len(KNOWN)


def test_the_cache_is_in_the_home_folder_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("TINYVIT_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "tinyvit"


def test_a_user_without_a_home_folder_is_told_to_name_a_cache(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("TINYVIT_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    assert "no home folder to keep downloads in: set TINYVIT_CACHE" in complaint(find_weights, "Ti_16-224")
