"""The version of tinyvit: here and nowhere else."""

__version__ = "0.2.0"
