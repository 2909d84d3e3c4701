"""`python -m tinyvit.bench`: measure the speed of training or inference, alone or beside PyTorch."""

from tinyvit.bench.command import main, parser

__all__ = ["main", "parser"]
