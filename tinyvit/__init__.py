"""tinyvit: the Vision Transformer in plain NumPy and CuPy, every backward pass written by hand."""

__version__ = "0.1.0"
