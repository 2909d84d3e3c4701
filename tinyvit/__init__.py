"""tinyvit: the Vision Transformer in plain NumPy and CuPy, every backward pass written by hand.

import tinyvit
model = tinyvit.load("runs/shapes-1")
model.predict("photo.jpg")
"""

from tinyvit.estimator import ViTClassifier
from tinyvit.front import Model, load, preset
from tinyvit.version import __version__

__all__ = ["Model", "ViTClassifier", "__version__", "load", "preset"]
