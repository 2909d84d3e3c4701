"""Which part of a photo a model sees, and resizing that part to the size the model expects.

A photo rarely has the shape that a model expects. As in transformers and timm, the whole photo is resized to
whole pixels, and the image is cut out of its centre at whole pixels; see PhotoFit. To resize exactly the part
that is seen would not give the same pixels.
"""

from PIL import Image

from tinyvit.data.decoding import Box
from tinyvit.data.photo_fit import PhotoFit

_LARGE = 1 << 24  # pixels: of a very thin photo, only the part that is seen is resized


def resized_size(fit: PhotoFit, frame: Box) -> tuple[int, int]:
    """Width and height, in whole pixels, to which the photo that fills the frame is resized."""
    width, height = sides(frame)
    down, across = fit.frame
    if fit.fit == "squash":
        return across, down
    if fit.fit == "crop" and down == across:  # what is left of a pixel is cut off
        longer = int(down * max(width, height) / min(width, height))
        return (down, longer) if width <= height else (longer, down)
    shrink = (min if fit.fit == "crop" else max)(height / down, width / across)
    return max(1, round(width / shrink)), max(1, round(height / shrink))  # a thin photo can still be seen


def seen_box(fit: PhotoFit, frame: Box) -> Box:
    """The box that the model sees of a photo that fills the frame; it may extend beyond the frame."""
    size = resized_size(fit, frame)
    return moved(_window(fit, size), (0, 0, *size), frame)


def fitted(fit: PhotoFit, image: Image.Image, frame: Box) -> Image.Image:
    """What the model sees of the photo that fills the frame of an image."""
    size, resample = resized_size(fit, frame), Image.Resampling[fit.resample.upper()]
    left, top, right, bottom = _window(fit, size)
    part = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    if size[0] * size[1] <= _LARGE:
        photo = image.resize(size, resample, frame).crop(part)
    else:
        box = intersection(moved(part, (0, 0, *size), frame), frame)
        photo = image.resize((part[2] - part[0], part[3] - part[1]), resample, box)
    seen = Image.new("RGB", (right - left, bottom - top), fit.border if fit.fit == "pad" else 0)
    seen.paste(photo, (part[0] - left, part[1] - top))
    return seen


def _window(fit: PhotoFit, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The box of the image in a photo that has been resized to (width, height), in whole pixels."""
    height, width = fit.size
    left, top = (_start(fit, *lengths) for lengths in zip(size, (width, height), strict=True))
    return left, top, left + width, top + height


def _start(fit: PhotoFit, length: int, side: int) -> int:
    """Where a side of the image starts along that length; negative if the photo is shorter."""
    if fit.library == "timm":
        return round((length - side) / 2) if length > side else -((side - length) // 2)
    return (length - side) // 2


def moved(box: Box, frame: Box, other: Box) -> Box:
    """The box that lies in the other frame where the given one lies in the frame."""
    across, down = (new / old for new, old in zip(sides(other), sides(frame), strict=True))
    left, top = other[0] - frame[0] * across, other[1] - frame[1] * down
    return left + box[0] * across, top + box[1] * down, left + box[2] * across, top + box[3] * down


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
