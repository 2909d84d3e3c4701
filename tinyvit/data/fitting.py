"""Which part of a photo a model sees, and resizing that part to the size the model expects.

A photo rarely has the shape that a model expects. The model sees a box around the centre of the photo,
resized:

    crop      the largest box of the model's shape that fits into the photo
    pad       the smallest box of the model's shape that contains the photo, with grey around the photo
    squash    the whole photo, whose proportions are not kept

A crop_share below 1 shrinks the box towards its centre; many published models were evaluated that way. If
it is not the same for both sides, the box before shrinking has a shape that is not the model's.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from tinyvit.data.decoding import Box

FITS = ("crop", "pad", "squash")
FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")  # Pillow's names
GREY = (128, 128, 128)  # of the padding: the middle of the range of pixels


@dataclass(frozen=True)
class Fitting:
    """How a photo becomes an image of width x height pixels.

    fit is one of FITS, resample one of FILTERS; crop_share, each above 0 and up to 1, are the shares of the
    box's height and width that the model sees. Anything else raises a ValueError.
    """

    width: int
    height: int
    fit: str = "crop"
    resample: str = "bicubic"
    crop_share: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1:
            raise ValueError(f"the image size is {self.width} x {self.height}, expected at least 1 x 1")
        if self.fit not in FITS:
            raise ValueError(f"fit is {self.fit!r}, expected one of {', '.join(FITS)}")
        if self.resample not in FILTERS:
            raise ValueError(f"resample is {self.resample!r}, expected one of {', '.join(FILTERS)}")
        if not all(0 < share <= 1 for share in self.crop_share):
            raise ValueError(f"crop_share is {self.crop_share}, expected numbers above 0 and up to 1")


def seen_box(fitting: Fitting, frame: Box) -> Box:
    """The box that the model sees of a photo that fills the frame."""
    left, top, right, bottom = frame
    width, height = right - left, bottom - top
    down, across = fitting.crop_share
    shape = fitting.width / fitting.height * (down / across)
    if fitting.fit != "squash" and width / height != shape:
        too_wide = width / height > shape
        if too_wide == (fitting.fit == "crop"):
            width = shape * height
        else:
            height = width / shape
    width, height = across * width, down * height
    left += (right - left - width) * 0.5
    top += (bottom - top - height) * 0.5
    return left, top, left + width, top + height


def fitted(fitting: Fitting, image: Image.Image, frame: Box) -> Image.Image:
    """What the model sees of the photo that fills the frame of an image."""
    size, resample = (fitting.width, fitting.height), Image.Resampling[fitting.resample.upper()]
    box = seen_box(fitting, frame)
    photo = intersection(box, frame)
    if photo == box:
        return image.resize(size, resample, box)
    left, top, right, bottom = (round(edge) for edge in in_pixels_of(size, box, photo))
    right, bottom = max(right, left + 1), max(bottom, top + 1)  # a thin photo can still be seen
    padded = Image.new("RGB", size, GREY)
    padded.paste(image.resize((right - left, bottom - top), resample, photo), (left, top))
    return padded


def in_pixels_of(size: tuple[int, int], frame: Box, box: Box) -> Box:
    """The box in pixel coordinates once the contents of the frame have been resized to (width, height)."""
    left, top, right, bottom = frame
    across, down = size[0] / (right - left), size[1] / (bottom - top)
    return (
        (box[0] - left) * across,
        (box[1] - top) * down,
        (box[2] - left) * across,
        (box[3] - top) * down,
    )


def intersection(one: Box, other: Box) -> Box:
    """The box that two overlapping boxes have in common."""
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def sides(box: Box) -> tuple[float, float]:
    """Width and height of a box."""
    return box[2] - box[0], box[3] - box[1]


def area(box: Box) -> float:
    """Width times height of a box."""
    width, height = sides(box)
    return width * height
