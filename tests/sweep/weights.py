"""Do weights of others that load also agree? Every ViT of timm, and Hugging Face's kinds of ViT, asked.

Each model gets random values, is saved as its library saves what it publishes (save_for_hf, save_pretrained:
weights and config.json), loaded by tinyvit, and compared on random images. A model either loads and agrees,
or is refused with a message; one that loads and differs is an error. Each of timm's is also read without its
config.json, where heads and GELU must be guessed or asked for. Writes RESULTS.md beside this file.
Needs torch, timm, transformers and safetensors, and half an hour; run by hand:

    python -m tests.sweep.weights [PATTERN...]

Only two of the blocks of timm's models are built, and their config.json is written as if all were: what is
asked is how a file is understood, and that does not depend on how many blocks there are. Models that cannot
be cut short, and have more than LARGEST parameters, are left out, by name.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import math
import sys
import tempfile
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

from tests.golden.make_timm_golden import StandIn
from tests.golden.torch_library import randomise
from tinyvit.engine import CpuEngine
from tinyvit.support.errors import UserError
from tinyvit.weights.architectures import described_architecture
from tinyvit.weights.description import read_description
from tinyvit.weights.read import load_weights
from tinyvit.weights.torch_names import from_torch_names

RESULTS = Path(__file__).with_name("RESULTS.md")
MODULES = (
    "vision_transformer", "deit", "vision_transformer_hybrid", "vision_transformer_relpos",
    "vision_transformer_sam", "beit", "eva", "naflexvit",
)  # fmt: skip
LARGEST = 400_000_000
TOLERANCE = 1e-4  # float32, relative to the largest answer; a wrong GELU or epsilon is far above it


@dataclass
class Result:
    """The result for one model: outcome is 'agrees', 'refused', 'DIFFERS' or 'left out'."""

    library: str
    family: str
    name: str
    outcome: str
    detail: str = ""


def main(patterns: list[str]) -> int:
    """Ask all models whose names match, print what becomes of each, and write the table if all were asked."""
    if importlib.util.find_spec("torchvision") is None:
        sys.meta_path.insert(0, StandIn())
    import timm
    from timm.models._registry import _model_to_module

    transformers.utils.logging.disable_progress_bar()
    results = []
    asked = [(name, _model_to_module[name], ask_timm) for name in timm.list_models()]
    asked = [row for row in asked if row[1] in MODULES]
    asked += [(name, name.split()[0], ask_hugging_face) for name in HUGGING_FACE]
    for name, family, ask in asked:
        if patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            continue
        start = time.perf_counter()
        outcome, detail = ask(name)
        library = "timm" if ask is ask_timm else "Hugging Face"
        results.append(Result(library, family, name, outcome, detail))
        print(f"{outcome:9} {name:45} {time.perf_counter() - start:5.1f} s  {detail[:150]}", flush=True)
    print(Counter(result.outcome for result in results))
    if not patterns:
        versions = (
            f"timm {timm.__version__}, transformers {transformers.__version__}, PyTorch {torch.__version__}"
        )
        timms = [result.name for result in results if result.library == "timm"]
        guesses = [guess for name in timms if (guess := guess_without_description(name))]
        print(f"without config.json: {len(guesses)} load, of which {[g for g in guesses if g[1]]} wrongly")
        RESULTS.write_text(report(results, guesses, versions), encoding="utf-8")
    return any(result.outcome == "DIFFERS" for result in results)


def ask_timm(name: str) -> tuple[str, str]:
    """Outcome and detail for a model of timm's; one that its config.json has refused is not built."""
    import timm
    from timm.models._hub import save_config_for_hf, save_for_hf

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        with torch.device("meta"):
            model = timm.create_model(name)
        save_config_for_hf(model, config)
        try:
            read_description(config)
        except UserError as error:
            return "refused", str(error).replace(folder + "/", "")
        try:
            model = timm.create_model(name, depth=2)
        except (TypeError, AssertionError):  # it cannot be cut short
            if (count := sum(p.numel() for p in model.parameters())) > LARGEST:
                return "left out", f"it has {count:,} parameters"
            model = timm.create_model(name)
        _randomise(model, name)
        whole = config.read_text()
        save_for_hf(model, folder, safe_serialization=True)
        config.write_text(whole)
        pixels = json.loads(whole)["pretrained_cfg"]
        return _compare(Path(folder), model, tuple(pixels["input_size"][1:]), pixels)


def guess_without_description(name: str) -> tuple[str, str] | None:
    """Of a model of timm's that loads without its config.json: name, and what is guessed wrongly, if any.

    None if it does not load. Only names and shapes matter, so the numbers are zeros.
    """
    import timm

    with torch.device("meta"):
        try:
            model = timm.create_model(name, depth=1)
        except (TypeError, AssertionError):  # it cannot be cut short
            model = timm.create_model(name)
    arrays = {key: np.zeros(tuple(tensor.shape), "float32") for key, tensor in model.state_dict().items()}
    try:
        config, _ = from_torch_names(arrays, "file")
    except UserError:
        return None
    try:
        meant = described_architecture(name)
    except ValueError as error:
        return name, f"is read, {error}"
    wrong = [key for key in ("heads", "gelu", "eps") if getattr(config, key) != meant[key]]
    return name, f"{', '.join(wrong)} wrong" if wrong else ""


def _hugging_face(kind: str, head: str, **changes):
    """A small model of a kind of Hugging Face's: a function that makes it."""

    def make():
        settings = {
            "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 4,
            "image_size": 24, "intermediate_size": 80, "num_labels": 7,
        } | changes  # fmt: skip
        return getattr(transformers, kind + head)(getattr(transformers, kind + "Config")(**settings))

    return make


_CLASSIFY = "ForImageClassification"
HUGGING_FACE = {
    "ViT, classifier": _hugging_face("ViT", _CLASSIFY),
    "ViT, not square": _hugging_face("ViT", _CLASSIFY, image_size=[16, 24]),
    "ViT, tanh GELU": _hugging_face("ViT", _CLASSIFY, hidden_act="gelu_pytorch_tanh"),
    "ViT, epsilon 1e-3": _hugging_face("ViT", _CLASSIFY, layer_norm_eps=1e-3),
    "ViT, gelu_new": _hugging_face("ViT", _CLASSIFY, hidden_act="gelu_new"),
    "ViT, ReLU": _hugging_face("ViT", _CLASSIFY, hidden_act="relu"),
    "ViT, quick_gelu": _hugging_face("ViT", _CLASSIFY, hidden_act="quick_gelu"),
    "ViT, no qkv biases": _hugging_face("ViT", _CLASSIFY, qkv_bias=False),
    "ViT, one channel": _hugging_face("ViT", _CLASSIFY, num_channels=1),
    "ViT, 2 heads": _hugging_face("ViT", _CLASSIFY, num_attention_heads=2),
    "ViT, backbone": _hugging_face("ViT", "Model"),
    "ViT, masked image modelling": _hugging_face("ViT", "ForMaskedImageModeling"),
    "DeiT, classifier": _hugging_face("DeiT", _CLASSIFY),
    "DeiT, distilled": _hugging_face("DeiT", _CLASSIFY + "WithTeacher"),
    "DeiT, backbone": _hugging_face("DeiT", "Model"),
    "Dinov2, backbone": _hugging_face("Dinov2", "Model", mlp_ratio=2),
    "Dinov2, classifier": _hugging_face("Dinov2", _CLASSIFY, mlp_ratio=2),
    "Dinov2, SwiGLU": _hugging_face("Dinov2", "Model", use_swiglu_ffn=True),
    "Dinov2, no qkv biases": _hugging_face("Dinov2", "Model", qkv_bias=False),
    "Dinov2WithRegisters, backbone": _hugging_face("Dinov2WithRegisters", "Model"),
    "Dinov2WithRegisters, classifier": _hugging_face("Dinov2WithRegisters", _CLASSIFY),
    "DINOv3ViT, backbone": _hugging_face("DINOv3ViT", "Model"),
    "ViTMSN, classifier": _hugging_face("ViTMSN", _CLASSIFY),
    "ViTMSN, backbone": _hugging_face("ViTMSN", "Model"),
    "ViTMAE, backbone": _hugging_face("ViTMAE", "Model", mask_ratio=0.0),
    "ViTMAE, with decoder": _hugging_face("ViTMAE", "ForPreTraining", mask_ratio=0.0),
    "IJepa, classifier": _hugging_face("IJepa", _CLASSIFY),
    "IJepa, backbone": _hugging_face("IJepa", "Model"),
    "Beit, classifier": _hugging_face("Beit", _CLASSIFY, use_absolute_position_embeddings=True),
    "Data2VecVision, classifier": _hugging_face("Data2VecVision", _CLASSIFY),
    "Yolos, backbone": _hugging_face("Yolos", "Model", image_size=[24, 24]),
    "CLIPVision, backbone": _hugging_face("CLIPVision", "Model"),
    "SiglipVision, backbone": _hugging_face("SiglipVision", "Model"),
    "SiglipVision, with an edge": _hugging_face("SiglipVision", "Model", image_size=27),
}  # fmt: skip


def ask_hugging_face(name: str) -> tuple[str, str]:
    """Outcome and detail for a model of Hugging Face's, as transformers writes it and as it is in memory."""
    make = HUGGING_FACE[name]
    model = make()
    _randomise(model, name)
    size = model.config.image_size
    size = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
    outcomes = []
    for way in ("file", "memory"):
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            scale = {"do_resize": False, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
            (Path(folder) / "preprocessor_config.json").write_text(json.dumps(scale))
            if way == "memory":  # the names that other tools save
                save_file(model.state_dict(), Path(folder) / "model.safetensors")
            outcomes.append(_compare(Path(folder), lambda images: _answer(model, images), size, {}))
    if outcomes[0][0] != outcomes[1][0]:
        return "DIFFERS", f"as transformers writes it: {outcomes[0]}; as it is in memory: {outcomes[1]}"
    return outcomes[0]


def _answer(model, images):
    """The logits of a model of transformers; without a head its class token, or the mean of its tokens."""
    inner = getattr(model, "vit", None)
    if hasattr(model, "decoder") and inner is not None:  # what is learned without labels: ask the ViT alone
        model = inner
    found = model(images)
    if hasattr(found, "logits"):
        return found.logits
    if "Siglip" in type(model).__name__ or "CLIP" in type(model).__name__:
        return found.pooler_output
    tokens = found.last_hidden_state
    return tokens.mean(1) if "IJepa" in type(model).__name__ else tokens[:, 0]


def _randomise(model, name: str) -> None:
    """Random values, the same ones for a name, in parameters, and in buffers that are not fixed tables."""
    randomise(model, zlib.crc32(name.encode()))


def _compare(folder: Path, ask, size: tuple[int, int], pixels: dict) -> tuple[str, str]:
    try:
        config, params = load_weights(folder / "model.safetensors")
    except UserError as error:
        return "refused", str(error).replace(str(folder) + "/", "")
    images = np.random.default_rng(0).standard_normal((2, *size, config.channels)).astype("float32")
    theirs = images
    if pixels:  # tinyvit takes pixels from -1 to 1, and has moved the model's own scale into its weights
        theirs = ((images + 1) / 2 - np.array(pixels["mean"])) / np.array(pixels["std"])
    with torch.no_grad():
        expected = ask(torch.from_numpy(theirs.astype("float32").transpose(0, 3, 1, 2).copy())).numpy()
    headless = config.classes == 1 and expected.shape[1] == config.width  # then compare the features
    height, width = config.image_size  # without the edge that no patch covers
    engine, errors = CpuEngine(config, params), []
    for engine.least_tokens_to_infer_folded in (math.inf, 0):  # as for a few images, and as for many
        found = (engine.features if headless else engine.logits)(images[:, :height, :width])
        if found.shape != expected.shape:
            return "DIFFERS", f"answers {found.shape}, expected {expected.shape}"
        errors.append(float(np.abs(found - expected).max() / np.abs(expected).max()))
    if not max(errors) < TOLERANCE:
        return "DIFFERS", f"by {max(errors):.1e}"
    return "agrees", f"to {max(errors):.0e}"


def report(results: list[Result], guesses: list[tuple[str, str]], versions: str) -> str:
    """The tables, as Markdown; guesses as from guess_without_description."""
    outcomes = ("agrees", "refused", "DIFFERS", "left out")
    lines = [
        "# Weights of others: what loads, and whether it agrees",
        "",
        "Written by `python -m tests.sweep.weights`, which says how: random weights, two blocks of each of "
        f"timm's models. {versions}.",
        "",
        "| library | family | models | load and agree | refused | load and differ | left out |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    families = list(dict.fromkeys((r.library, r.family) for r in results))
    for library, family in [*families, ("all", "")]:
        rows = [r for r in results if library == "all" or (r.library, r.family) == (library, family)]
        counts = Counter(r.outcome for r in rows)
        cells = [library, family.strip(","), len(rows), *(counts[outcome] for outcome in outcomes)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    wrong = "; ".join(f"{name} {what}" for name, what in guesses if what) or "none"
    lines += [
        "",
        f"Of timm's models, {len(guesses)} also load without their config.json. Understood wrongly: {wrong}.",
        "",
        "## Load and agree",
        "",
    ]
    for library in dict.fromkeys(r.library for r in results):
        names = [r.name for r in results if (r.library, r.outcome) == (library, "agrees")]
        lines += [f"{library}: {'; '.join(names)}.", ""]
    lines += ["## Refused, left out, or different", "", "| model | what tinyvit says |", "|---|---|"]
    for r in results:
        if r.outcome != "agrees":
            prefix = "" if r.outcome == "refused" else f"**{r.outcome}**: "
            lines.append(f"| {r.name} | {prefix}{r.detail.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
