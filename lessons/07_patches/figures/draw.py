"""Draw this lesson's figure: python -m lessons.07_patches.figures.draw"""

from pathlib import Path

from lessons.drawing import BLUE, QUIET, RED, Sheet
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.ops import patchify

PATCH, GAP, SIDE = 8, 7, 46  # pixels of a patch; points between patches; points of a patch


def lay_out(sheet, left, top, patches):
    """Show sixteen patches (16, P*P*3) as small pictures, four in a row."""
    for number, patch in enumerate(patches):
        row, column = divmod(number, 4)
        x, y = left + column * (SIDE + GAP), top + row * (SIDE + GAP)
        sheet.image(x, y, patch.reshape(PATCH, PATCH, 3), SIDE)


def main():
    sheet = Sheet(760, 300)
    train = make_shapes(train=40, test=10, seed=0).train
    images = train.images[train.labels == CLASSES.index("star")][2:3]
    sheet.image(30, 54, images[0], 4 * SIDE + 3 * GAP)
    right, _ = patchify(images, PATCH)
    lay_out(sheet, 278, 54, right[0])
    lay_out(sheet, 526, 54, images.reshape(right.shape)[0])
    centre = (4 * SIDE + 3 * GAP) / 2
    sheet.text(30 + centre, 32, "an image, 32 x 32", 14)
    sheet.text(278 + centre, 32, "16 patches of 8 x 8", 14, BLUE)
    sheet.text(526 + centre, 32, "reshaped, not transposed", 14, RED)
    sheet.text(
        380,
        280,
        "Same numbers, same shape (16, 192). On the right, each patch is two rows of the image, folded.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "patches.png")


if __name__ == "__main__":
    main()
