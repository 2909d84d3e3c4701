"""The map of the course: one diagram of the ViT, from pixels to the next batch, with "you are here" on it.

Every lesson's page opens with it (figures/where.png): blue is what the lesson is about, pale blue what
earlier lessons were about. `python -m lessons.mine` draws the same map with the parts that are yours. To draw
every lesson's again: python -m lessons.diagram
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from lessons.drawing import AXIS, BLUE, GREEN, INK, PAPER, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.insight.pictures.colours import tint
from tinyvit.insight.pictures.sheet import text_width
from tinyvit.ops import patchify

WIDTH, HEIGHT = 780, 266
TOP, BOTTOM = 58, 140  # of the boxes that the tokens pass through
MIDDLE = (TOP + BOTTOM) / 2
LOOP = 203  # top of the row of boxes below the model

# What each lesson is about. A name before a dot stands for all its boxes: "linear" for all six.
LESSONS: dict[int, tuple[str, ...]] = {
    0: ("pixels", "normalise"),
    1: ("softmax", "cross_entropy", "loss"),
    2: ("gradients", "backward", "check"),
    3: ("linear",),
    4: ("mlp", "gelu", "linear.mlp1", "linear.mlp2"),
    5: ("patchify", "class_token", "position"),
    6: ("single_head", "softmax.attention", "attention", "linear.qkv", "linear.out"),
    7: ("layer_norm",),
    8: ("block", "vit", "backward"),
    9: ("clip", "adamw", "rate", "parameters"),
    10: ("vit", "backward", "loop"),
    11: ("gradients", "parameters", "loss"),
    12: ("crop", "drop_path"),
    13: ("loop",),
    14: ("linear.patch", "position", "softmax.attention"),
    15: ("crop", "cross_entropy", "parameters", "adamw"),
    16: ("block", "vit", "loop"),
    17: ("parameters", "position", "linear.patch"),
    18: ("linear.head", "parameters"),
    19: ("patchify", "linear.patch"),
    20: ("patchify", "linear.patch"),
    21: ("position", "attention"),
    22: ("position", "single_head"),
    23: ("linear.patch", "linear.head", "loss"),
    24: ("linear.head", "softmax.last", "cross_entropy"),
    25: ("gelu", "layer_norm", "adamw"),
    26: ("gradients", "backward", "layer_norm.1", "layer_norm.2", "linear.qkv", "linear.mlp1", "gelu"),
    27: ("layer_norm", "vit", "clip", "loss"),
    28: ("gelu", "layer_norm", "cross_entropy", "gradients"),
    29: ("single_head", "softmax.attention"),
    30: ("gradients", "backward", "adamw"),
}


@dataclass(frozen=True)
class Style:
    """The look of a part: the colours of its box, of its outline and arrows, and of the text in it."""

    fill: str
    edge: str
    ink: str

    @property
    def is_loud(self) -> bool:
        """True if the box is filled with its full colour."""
        return self.fill == self.edge


QUIETLY = Style(PAPER, AXIS, QUIET)  # to come, or the library's
KNOWN = Style(tint(BLUE, 0.16), tint(BLUE, 0.75), INK)
HERE = Style(BLUE, BLUE, PAPER)
YOURS = Style(GREEN, GREEN, PAPER)
WRONG = Style(RED, RED, PAPER)
KEYS_OF_A_LESSON = (("you are here", HERE), ("behind you", KNOWN), ("ahead", QUIETLY))
KEYS_OF_MINE = (("yours", YOURS), ("tinyvit's", QUIETLY), ("not right yet", WRONG))


def is_among(part: str, parts: Collection[str]) -> bool:
    """True if a part, or the name before its dot, is among the parts."""
    return part in parts or part.split(".")[0] in parts


def draw_lesson(number: int) -> Sheet:
    """The map for a lesson's page."""
    here = LESSONS[number]
    known = {part for n, parts in LESSONS.items() if n < number for part in parts}

    def style(part: str) -> Style:
        return HERE if is_among(part, here) else KNOWN if is_among(part, known) else QUIETLY

    return draw(style, KEYS_OF_A_LESSON)


def draw_mine(yours: Collection[str], wrong: Collection[str]) -> Sheet:
    """The map with the parts that are yours, and those that are not right yet."""

    def style(part: str) -> Style:
        return WRONG if is_among(part, wrong) else YOURS if is_among(part, yours) else QUIETLY

    return draw(style, KEYS_OF_MINE)


def draw(style: Callable[[str], Style], keys: tuple[tuple[str, Style], ...]) -> Sheet:
    """The whole map, each part in its own style, with the meaning of the colours in the corner."""
    paper = Sheet(WIDTH, HEIGHT)
    pen = Pen(paper, style)
    _draw_keys(paper, keys)
    _draw_stem(pen)
    _draw_block(pen)
    _draw_readout(pen)
    _draw_training(pen)
    return paper


class Pen:
    """Draws parts in their styles."""

    def __init__(self, paper: Sheet, style: Callable[[str], Style]):
        self.paper, self.style = paper, style

    def box(self, part: str, x: float, y: float, width: float, height: float, label: str) -> None:
        """A box with its label in one or more lines."""
        s, lines = self.style(part), label.split("\n")
        self.paper.box(x, y, width, height, s.fill, s.edge)
        for i, line in enumerate(lines):
            self.paper.text(
                x + width / 2, y + height / 2 + 13 * (i - (len(lines) - 1) / 2), line, 11.5, s.ink
            )

    def tall(self, part: str, x: float, label: str, top: float = TOP, bottom: float = BOTTOM) -> None:
        """A narrow box with its label reading upwards."""
        s = self.style(part)
        self.paper.box(x, top, 20, bottom - top, s.fill, s.edge)
        self.paper.text_upwards(x + 10, (top + bottom + text_width(label, 11.5)) / 2, label, 11.5, s.ink)

    def frame(self, part: str, x: float, y: float, width: float, height: float, strength: float) -> None:
        """A box around other boxes, tinted in the colour of its part."""
        s = self.style(part)
        fill = PAPER if s is QUIETLY else tint(s.edge, strength)
        self.paper.box(x, y, width, height, fill, s.edge)

    def label(self, part: str) -> str:
        """The colour of a part's label on white or on its tint."""
        s = self.style(part)
        return {QUIETLY: QUIET, KNOWN: INK}.get(s, s.edge)

    def arrow(self, part: str, *points: tuple[float, float]) -> None:
        """An arrow through the points."""
        s = self.style(part)
        width = 2.2 if s.is_loud else 1.5
        if len(points) > 2:
            self.paper.line(points[:-1], s.edge, width)
        self.paper.arrow(points[-2], points[-1], s.edge, width)

    def forward(self, start: float, end: float, part: str = "vit") -> None:
        """An arrow between two boxes on the tokens' way."""
        self.arrow(part, (start, MIDDLE), (end, MIDDLE))


def _draw_keys(paper: Sheet, keys: tuple[tuple[str, Style], ...]) -> None:
    x = 8.0
    for label, s in keys:
        paper.box(x, 8, 12, 12, s.fill, s.edge)
        paper.text(x + 18, 14, label, 12, INK, "lm")
        x += 34 + text_width(label, 12)


def _draw_stem(pen: Pen) -> None:
    paper, picture = pen.paper, star()
    _draw_picture(pen, "pixels", 8, "pixels")
    paper.image(12, MIDDLE - 22, picture, 44)
    pen.forward(60, 70)
    pen.box("crop", 70, TOP, 62, 34, "crop, flip")
    pen.box("normalise", 70, BOTTOM - 34, 62, 34, "normalise")
    pen.arrow("vit", (101, TOP + 34), (101, BOTTOM - 34))
    pen.forward(132, 142)
    _draw_picture(pen, "patchify", 142, "patches")
    for i, patch in enumerate(patchify(picture[None], 8)[0][0]):
        paper.image(145.25 + 11.5 * (i % 4), MIDDLE - 22.75 + 11.5 * (i // 4), patch.reshape(8, 8, 3), 10)
    pen.forward(194, 203)
    pen.tall("linear.patch", 203, "linear")
    pen.forward(223, 232)
    pen.box("class_token", 232, TOP, 66, 34, "class token")
    pen.box("position", 232, BOTTOM - 34, 66, 34, "+ positions")
    pen.arrow("vit", (265, TOP + 34), (265, BOTTOM - 34))


def _draw_picture(pen: Pen, part: str, x: float, label: str) -> None:
    s = pen.style(part)
    pen.paper.box(x, MIDDLE - 26, 52, 52, s.fill, s.edge)
    pen.paper.text(x + 26, BOTTOM - 4, label, 11.5, pen.label(part))


def _draw_block(pen: Pen) -> None:
    paper = pen.paper
    pen.frame("block", 306, 30, 322, 134, 0.07)
    paper.text(316, 153, "one of L blocks", 11.5, pen.label("block"), "lm")
    pen.forward(298, 317)
    pen.tall("layer_norm.1", 317, "LayerNorm")
    pen.forward(337, 346, "block")

    pen.frame("attention", 346, TOP, 128, BOTTOM - TOP, 0.14)
    paper.text(410, TOP + 10, "attention", 11.5, pen.label("attention"))
    pen.tall("linear.qkv", 351, "q, k, v", TOP + 20, BOTTOM - 5)
    head = pen.style("single_head")
    for back in (8, 4, 0):  # heads behind heads
        paper.box(375 + back, TOP + 28 - back, 62, 49, head.fill, PAPER if head.is_loud else head.edge)
    paper.text(406, TOP + 38, "head", 11.5, head.ink)
    inner = pen.style("softmax.attention")
    paper.box(380, TOP + 48, 52, 22, inner.fill, PAPER if inner.is_loud else inner.edge)
    paper.text(406, TOP + 59, "softmax", 11.5, inner.ink)
    pen.tall("linear.out", 449, "linear", TOP + 20, BOTTOM - 5)
    _draw_sum(pen, 490, 474)

    pen.arrow("block", (498, MIDDLE), (508, MIDDLE))
    pen.tall("layer_norm.2", 508, "LayerNorm")
    pen.forward(528, 534, "block")
    pen.frame("mlp", 534, TOP, 70, BOTTOM - TOP, 0.14)
    paper.text(569, TOP + 10, "MLP", 11.5, pen.label("mlp"))
    pen.tall("linear.mlp1", 537, "linear", TOP + 20, BOTTOM - 5)
    pen.tall("gelu", 559, "GELU", TOP + 20, BOTTOM - 5)
    pen.tall("linear.mlp2", 581, "linear", TOP + 20, BOTTOM - 5)
    _draw_sum(pen, 616, 604)
    _draw_skip(pen, 311.5, 490, "skip connection")
    _draw_skip(pen, 503, 616, "")
    pen.box("drop_path", 537, 144, 64, 16, "drop path")


def _draw_sum(pen: Pen, x: float, start: float) -> None:
    """The circle in which the stream and a branch are added."""
    s = pen.style("block")
    pen.paper.line([(start, MIDDLE), (x - 8, MIDDLE)], s.edge)
    pen.paper.dot((x, MIDDLE), 8, s.edge)
    if not s.is_loud:
        pen.paper.dot((x, MIDDLE), 5.5, s.fill)
    pen.paper.text(x, MIDDLE - 0.5, "+", 13, s.ink)


def _draw_skip(pen: Pen, start: float, end: float, label: str) -> None:
    """The way round a branch."""
    pen.arrow("block", (start, MIDDLE), (start, TOP - 13), (end, TOP - 13), (end, MIDDLE - 8))
    pen.paper.text((start + end) / 2, TOP - 21, label, 11.5, pen.label("block"))


def _draw_readout(pen: Pen) -> None:
    pen.forward(624, 638)
    pen.tall("layer_norm.last", 638, "LayerNorm")
    pen.forward(658, 667)
    pen.tall("linear.head", 667, "head (linear)")
    pen.forward(687, 696)
    pen.tall("softmax.last", 696, "softmax")
    pen.forward(716, 725)
    pen.tall("cross_entropy", 725, "cross-entropy")
    pen.forward(745, 754, "loss")
    pen.paper.text(766, MIDDLE, "loss", 11.5, pen.label("loss"))


def _draw_training(pen: Pen) -> None:
    paper = pen.paper
    pen.arrow("backward", (766, MIDDLE + 9), (766, 181), (150, 181), (150, LOOP))
    words = "backward: every box once more, from the last to the first"
    width = text_width(words, 11.5) + 14
    paper.rectangle(466 - width / 2, 174, width, 14, PAPER)
    paper.text(466, 181, words, 11.5, pen.label("backward"))

    half = LOOP + 23  # where the lower of two boxes begins
    pen.box("gradients", 84, LOOP, 132, 22, "gradients")
    pen.box("check", 84, half + 1, 132, 22, "= differences?")
    pen.arrow("clip", (216, half), (234, half))
    pen.box("clip", 234, LOOP + 5, 88, 36, "clip\nto norm 1")
    pen.arrow("adamw", (322, half), (340, half))
    pen.box("adamw", 340, LOOP, 110, 22, "AdamW")
    pen.box("rate", 340, half + 1, 110, 22, "learning rate")
    pen.arrow("parameters", (450, half), (468, half))
    pen.box("parameters", 468, LOOP + 5, 104, 36, "parameters,\na step further")
    pen.arrow("loop", (572, half), (590, half))
    pen.box("loop", 590, LOOP + 5, 182, 36, "next batch, next epoch;\nnow and then an evaluation")
    pen.arrow("loop", (681, LOOP + 41), (681, LOOP + 56), (34, LOOP + 56), (34, BOTTOM + 6))


def main() -> None:
    """Draw figures/where.png for every lesson."""
    for folder in sorted(Path(__file__).parent.glob("[0-9][0-9]_*")):
        number = int(folder.name[:2])
        if number in LESSONS:
            (folder / "figures").mkdir(exist_ok=True)
            picture = draw_lesson(number).finished()
            picture = picture.quantize(256, Image.Quantize.MAXCOVERAGE, 3, dither=Image.Dither.NONE)
            picture.save(folder / "figures" / "where.png", optimize=True)


if __name__ == "__main__":
    main()
