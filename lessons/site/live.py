"""The page in which a model runs, live in the course: a small ViT, trained while the site is written."""

from __future__ import annotations

from pathlib import Path

import tinyvit
from tinyvit.data.shapes import make_shapes
from tinyvit.insight.page import page_text
from tinyvit.insight.page.contents import choose_samples, page_contents

LESSONS = Path(__file__).parents[1]
NAME = "live.html"  # of the page, at the top of the site
PLACE = "<!-- live -->"  # in a lesson's Markdown: it stands here
PICTURES, EPOCHS = 6_000, 8  # some twenty seconds of one core


def page() -> bytes:
    """The page, with a model of the built-in data set and links to the lessons."""
    data = make_shapes(PICTURES, 1_000)
    model = tinyvit.preset("nano/4", 32, data.classes, init="mimetic", width=32, mlp_width=64, layers=3)
    model.fit(data.train, epochs=EPOCHS, batch_size=50, optimizer="muon", lr=3e-3, crop_padding=2, flip=True)
    subtitle = (
        f"{model.params.count:,} parameters, trained on {PICTURES:,} of the built-in pictures. Of new ones, "
        f"it gets {model.score(data.test):.0%} right."
    )
    lessons = {int(path.name[:2]): f"{path.name}/index.html" for path in LESSONS.glob("[0-9]*")}
    samples = choose_samples(model.config, make_shapes(1, 20).test)  # two of each class
    contents = page_contents(model, samples, subtitle)
    return page_text(contents | {"lessons": lessons}).encode()


def frame(address: str) -> str:
    """The page within another one, to which its address is given."""
    return (
        f'<iframe src="{address}" title="A Vision Transformer that runs here" loading="lazy"></iframe>\n'
        f'<p><a href="{address}">The same in a window of its own</a></p>\n'
    )
