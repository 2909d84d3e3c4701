"""One HTML file in which a trained model runs: weights, a forward pass in JavaScript, a page to play with.

The files of this folder are joined into one page, which cannot reach anything outside itself. page.html has
places for the style, the model and the scripts. The scripts stay as they are written, each in an element of
its own, so that a reader of the page's source finds them as they are here. Those of the worker are only text
to the page, which starts a worker with them.

A content security policy in the page forbids every request. It allows only the scripts and the style whose
hashes it lists, and workers made of text.
"""

import base64
import hashlib
import html
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from tinyvit.insight.page.contents import NO_LABEL, Samples, check_page_can_run, choose_samples, page_contents
from tinyvit.model import Model
from tinyvit.support.files.atomic import write_atomically

__all__ = ["NO_LABEL", "Samples", "check_page_can_run", "choose_samples", "write_page"]


# In the order in which they are read.
WORKER = ("weights", "ops", "model", "worker")
PAGE = ("weights", "elements", "explain", "picture", "canvas", "answer", "maps", "steps", "main")


def write_page(model: Model, path: Path, samples: Samples | None, subtitle: str) -> int:
    """Write the page of a model and return its size in bytes.

    samples are pictures to begin with, and subtitle says below the page's title what model this is. Raises
    UserError if the page cannot run the model, or the file cannot be written.
    """
    check_page_can_run(model.config)
    text = page_text(page_contents(model, samples or Samples.none(model.config), subtitle)).encode()
    write_atomically(path, lambda file: file.write(text))
    return len(text)


def page_text(contents: dict[str, Any]) -> str:
    """The whole page."""
    style, scripts = _read("page.css"), [f'"use strict";\n{_read(f"{name}.js")}' for name in PAGE]
    places = {
        "TITLE": html.escape(f"Inside a Vision Transformer: {contents['subtitle']}"),
        "POLICY": _policy(style, scripts),
        "STYLE": f"<style>{style}</style>",
        "MODEL": f'<script type="application/json" id="model">{_json(contents)}</script>',
        "WORKER": "\n".join(
            f'<script type="text/plain" class="worker">{_read(f"{n}.js")}</script>' for n in WORKER
        ),
        "SCRIPTS": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    before, *pieces = _read("page.html").split("{{")
    return before + "".join(
        places[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces)
    )


def _policy(style: str, scripts: list[str]) -> str:
    """Nothing may be requested, and nothing may run but what is listed."""
    listed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {listed}; style-src {_hash(style)}; worker-src blob:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(contents: dict[str, Any]) -> str:
    """JSON that can stand in HTML: no class name can end the element that holds it."""
    return json.dumps(contents, separators=(",", ":")).replace("<", "\\u003c")


def _read(name: str) -> str:
    return files("tinyvit.insight.page").joinpath(name).read_text("utf-8")
