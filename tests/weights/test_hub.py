"""Models by their name on Hugging Face's hub, of which a server on the loopback serves one."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.golden.library_answers import HERE
from tests.tiny_runs import REPOSITORY
from tests.weights.checkpoints import complaint
from tinyvit.training.loading import load_any
from tinyvit.weights.known import is_hub_name

FOLDER = HERE / "later" / "dinov2_registers"
FILES = {path.name: path.read_bytes() for path in FOLDER.iterdir()} | {"evil.bin": b"code"}
COMMIT = "0123456789012345678901234567890123456789"


class Hub(BaseHTTPRequestHandler):
    """The server that huggingface_hub asks: for the list of a model's files, and for each of them."""

    def log_message(self, *_):
        """Nothing is printed."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0]
        self.server.asked.append(path)
        content = contents_of(path)
        self.send_response(404 if content is None else 200)
        if content is None:
            self.send_header("X-Error-Code", "RepoNotFound")
        else:
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content or b"")


def contents_of(path):
    """The contents of an address, or None."""
    if path.startswith("/api/models/someone/tiny/tree/"):
        return json.dumps(
            [{"type": "file", "path": name, "size": len(FILES[name]), "oid": name} for name in FILES]
        ).encode()
    if path.startswith("/api/models/someone/tiny"):
        files = [{"rfilename": name} for name in FILES]
        return json.dumps({"id": "someone/tiny", "sha": COMMIT, "siblings": files}).encode()
    return FILES.get(path.rpartition("/")[2]) if path.startswith("/someone/tiny/") else None


def load_by_name(name, tmp_path, endpoint):
    """The output of a process of its own that loads this model."""
    program = f"import tinyvit; print(tinyvit.load({name!r}))"
    ours = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | ours, cwd=tmp_path
    )
    return done.stdout + done.stderr


def test_a_model_is_loaded_by_its_name_and_then_without_a_network(tmp_path):
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        assert "Model(2 layers, width 16" in load_by_name("someone/tiny", tmp_path, endpoint)
        assert not any(path.endswith("evil.bin") for path in server.asked)
        server.asked.clear()
        assert "Model(2 layers, width 16" in load_by_name("someone/tiny@v2", tmp_path, endpoint)
        assert any("/revision/v2" in path for path in server.asked)
        refused = load_by_name("nobody/nothing", tmp_path, endpoint)
        assert "Hugging Face's hub refused nobody/nothing" in refused
    finally:
        server.shutdown()
        server.server_close()
    assert "Model(2 layers, width 16" in load_by_name("someone/tiny", tmp_path, endpoint)
    assert "cannot be reached" in load_by_name("another/tiny", tmp_path, endpoint)


def test_without_the_package_a_name_is_answered_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    message = complaint(load_any, "someone/tiny")
    assert "someone/tiny is not a file or folder here" in message
    assert "pip install huggingface_hub" in message


@pytest.mark.parametrize(
    "name", ["Ti_16-384", "runs/shapes-1", "a/b/c", "some/file.npz", "some/weights.pth", "a b/c"]
)
def test_what_may_be_a_path_or_a_known_name_is_not_looked_for_there(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert not is_hub_name(name)
