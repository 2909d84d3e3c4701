"""Pictures to be predicted."""

import numpy as np
from PIL import Image


def picture(mode, size=(31, 25), colour=(200, 80, 80)):
    """A red picture with some noise in any of Pillow's modes."""
    noise = np.random.default_rng(0).integers(-40, 40, (size[1], size[0], 3))
    image = Image.fromarray((noise + colour).clip(0, 255).astype(np.uint8))
    if mode == "I;16":  # for which convert keeps the numbers, so that white is 255 of 65535
        return Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)
    return image.convert(mode)


def make_folder(folder):
    """Images here and below, a file that is not an image, and a hidden one: the paths of the images."""
    paths = [folder / name for name in ("a.png", "b/1.png", "b/2.png", "c.png")]
    (folder / "b").mkdir(parents=True)
    for path in paths:
        picture("RGB").save(path)
    picture("RGB").save(folder / ".hidden.png")
    (folder / "notes.txt").write_text("hello")
    return paths
