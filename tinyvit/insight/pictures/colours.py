"""The colours that all pictures share: paper and inks, colours for curves, and heat."""

import numpy as np
from PIL import ImageColor

PAPER, INK, QUIET = "#ffffff", "#1c2430", "#6b7686"
FAINT, GRID, AXIS = "#d9dee6", "#e9ecf1", "#b4bcc8"
BLUE, ORANGE, GREEN, RED = "#2f6fdb", "#d9751a", "#14966b", "#c8384a"

# For several curves in one plot. Neighbours differ in lightness as well as in hue.
SERIES = (BLUE, ORANGE, GREEN, RED, "#7b52c7", "#1aa7c4", "#7a4a1e", "#e06bb2")

# From lowest to highest. Lightness increases evenly, so that equal steps look equal.
HEAT_COLOURS = np.array(
    [(0, 0, 4), (40, 17, 89), (114, 31, 129), (182, 54, 121), (241, 96, 93), (254, 175, 119), (252, 253, 191)]
)


def heat_colours(heat: np.ndarray) -> np.ndarray:
    """Colours (..., 3) uint8 for numbers (...): HEAT_COLOURS from 0 to 1, and its end colours beyond that."""
    anchors = np.linspace(0, 1, len(HEAT_COLOURS))
    channels = [np.interp(heat, anchors, HEAT_COLOURS[:, i]) for i in range(3)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def tint(colour: str, strength: float) -> str:
    """The colour on white paper, from invisible (0) to full strength (1)."""
    mixed = 255 + (np.array(ImageColor.getrgb(colour)) - 255) * strength
    return "#{:02x}{:02x}{:02x}".format(*(int(c) for c in mixed.round()))
