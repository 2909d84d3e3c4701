"""A server of one file, for tests of downloads, with habits that can be bad."""

import contextlib
import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 4000  # 1,024,000 bytes
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2


class Server(ThreadingHTTPServer):
    """Serves CONTENT; the tests switch its habits and read what it was asked."""

    heeds_range = True
    tells_length = True
    breaks_after = None  # bytes of a response
    holds_after = None  # bytes of a response, after which it waits for the event `go`
    ends = True  # otherwise it goes on sending for as long as anybody reads
    leads_to = None  # another address to which it sends everyone
    content, kind = CONTENT, "application/gzip"
    pace = None  # bytes that it sends before each pause of 10 ms
    wrong_range = False  # whether it sends the start of the file, whatever part was asked for
    whole = len(CONTENT)  # bytes that the file has, as it says with a part of it
    ranges: list  # the Range header of every request, None where there was none


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.ranges.append(wanted)
        if self.path == "/missing":
            return self.send_error(404)
        if server.leads_to:
            self.send_response(302)
            self.send_header("Location", server.leads_to)
            return self.end_headers()
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.heeds_range else 0
        if start >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            return self.end_headers()
        self.send_response(206 if start else 200)
        if start:
            first = 0 if server.wrong_range else start
            self.send_header("Content-Range", f"bytes {first}-{len(CONTENT) - 1}/{server.whole}")
        self.send_header("Content-Type", server.kind)
        if server.tells_length:
            self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the reader has seen enough
            while not server.ends:
                self.wfile.write(CONTENT)
            self.send(server, start)

    def send(self, server, start):
        if server.content is not CONTENT:
            self.wfile.write(server.content[start:])
        elif server.pace:
            for at in range(start, len(CONTENT), server.pace):
                self.wfile.write(CONTENT[at : at + server.pace])
                time.sleep(0.01)
        elif server.holds_after is None:
            self.wfile.write(CONTENT[start:][: server.breaks_after])
        else:
            self.wfile.write(CONTENT[start:][: server.holds_after])
            assert server.go.wait(60)
            self.wfile.write(CONTENT[start:][server.holds_after : server.breaks_after])

    def log_message(self, *arguments):
        """Keep the test's output clean."""


@contextlib.contextmanager
def serving(**habits):
    """Such a server, at server.url, with the given habits."""
    with Server(("127.0.0.1", 0), Handler) as server:
        server.ranges, server.go = [], threading.Event()
        server.__dict__.update(habits)
        server.url = f"http://127.0.0.1:{server.server_port}/file"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.go.set()  # whoever still waits can go
            server.shutdown()
            thread.join()
