"""tinyvit: the Vision Transformer in plain NumPy and CuPy, every backward pass written by hand.

>>> import tinyvit
>>> model = tinyvit.load("runs/shapes-1")
>>> model.predict("photo.jpg")

load, preset, Model and ViTClassifier are what most programs need. A training loop of your own also takes what
tinyvit.data, tinyvit.model, tinyvit.ops, tinyvit.optim and tinyvit.engine export, in their __all__.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tinyvit.support.shell.start import end_on_ctrl_c, end_without_packages, is_starting_a_command

if TYPE_CHECKING:
    from tinyvit.api import Model, load, preset
    from tinyvit.estimator import ViTClassifier

__version__ = "0.2.0"
__all__ = ["Model", "ViTClassifier", "__version__", "load", "preset"]

if is_starting_a_command():
    end_on_ctrl_c()
    end_without_packages()

# Imported on first use, so that listing the commands does not load NumPy.
_HOMES = {"Model": "api", "ViTClassifier": "estimator", "load": "api", "preset": "api"}

if not TYPE_CHECKING:  # or a type checker would take any name at all for one of these

    def __getattr__(name: str):
        if name in _HOMES:
            return getattr(import_module(f"tinyvit.{_HOMES[name]}"), name)
        from tinyvit.support.errors import did_you_mean

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{did_you_mean(name, _HOMES)}")


def __dir__() -> list[str]:
    return __all__
