"""Write timm/ and timm_answers.npz: small random models of timm, their state as safetensors, and what timm
makes of two images. Those of a published architecture are whole folders, as timm writes them for others.
Needs torch, timm and safetensors; run by hand:

    python -m tests.golden.make_timm_golden

timm imports torchvision, for image transforms that are not used here; where it is not installed, an empty
stand-in is enough.
"""

import enum
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path

import torch
from safetensors.torch import save_file

from tests.golden.torch_library import answers, randomise, store

HERE = Path(__file__).parent


class Nothing(types.ModuleType):
    """A module that has whatever is asked of it."""

    InterpolationMode = enum.Enum("InterpolationMode", "NEAREST BILINEAR BICUBIC BOX HAMMING LANCZOS")

    def __getattr__(self, name):
        """An empty class; but no special attribute that Python itself looks for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torchvision and all its modules: Nothing."""

    def find_spec(self, name, path=None, target=None):
        """Ours, for names in torchvision."""
        if name.split(".")[0] == "torchvision":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        """An empty module."""
        return Nothing(spec.name)

    def exec_module(self, module):
        """Nothing is to be run."""


def main():
    """Write the files."""
    if importlib.util.find_spec("torchvision") is None:
        sys.meta_path.insert(0, StandIn())
    import timm
    from timm.models._hub import save_for_hf
    from timm.models.vision_transformer import VisionTransformer

    variants = {
        "token": {},
        "mean": {"global_pool": "avg", "class_token": False, "fc_norm": False},
        "deit3": {"init_values": 0.5, "no_embed_class": True, "img_size": (8, 12)},
        "float16": {},
    }
    found = {}
    (HERE / "timm").mkdir(exist_ok=True)
    for seed, (name, changes) in enumerate(variants.items(), start=1):
        settings = {"img_size": (8, 8), "patch_size": 4, "embed_dim": 16, "depth": 2, "num_heads": 4}
        settings |= {"mlp_ratio": 1.5, "num_classes": 7} | changes
        model = randomise(VisionTransformer(**settings), seed)
        model = model.half() if name == "float16" else model
        save_file(model.state_dict(), HERE / "timm" / f"{name}.safetensors", metadata={"format": "pt"})
        size = settings["img_size"]
        state = VisionTransformer.state_dict if name == "deit3" else None
        found[name] = answers(model, size, lambda m, x: m(x), seed, state)
    # the heads of one and the GELU of the other are in timm's code alone
    architectures = {
        "vit_base_patch16_gap_224": {"embed_dim": 32},
        "vit_base_patch32_siglip_gap_256": {"embed_dim": 16, "num_heads": 4},
    }
    for seed, (name, changes) in enumerate(architectures.items(), start=11):
        settings = {
            "img_size": (8, 8),
            "patch_size": 4,
            "depth": 2,
            "mlp_ratio": 1.5,
            "num_classes": 7,
        } | changes
        model = randomise(timm.create_model(name, **settings), seed)
        model.pretrained_cfg |= {"mean": (0.5,) * 3, "std": (0.5,) * 3}
        save_for_hf(model, HERE / "timm" / name, safe_serialization=True)
        found[name] = answers(model, settings["img_size"], lambda m, x: m(x), seed)
    store(HERE / "timm_answers.npz", found, f"timm {timm.__version__}, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
