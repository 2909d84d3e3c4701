"""Write huggingface/ and huggingface_answers.npz: small random models as transformers saves them, and what it
makes of two images. Needs torch and transformers; run by hand:

    python -m tests.golden.make_huggingface_golden
"""

import tempfile
from pathlib import Path

import safetensors.torch
import torch
import transformers
from transformers import Dinov2Config, Dinov2Model, ViTConfig, ViTForImageClassification, ViTModel

from tests.golden.torch_library import answers, randomise, store

HERE = Path(__file__).parent
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 4}


def classify(model, images):
    """Logits."""
    return model(images).logits


def class_token(model, images):
    """The class token after the last norm."""
    return model(images).last_hidden_state[:, 0]


def saved(model):
    """The files that transformers writes, name -> content: it keeps other names in them than in memory."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return {file: (Path(folder) / file).read_bytes() for file in ("model.safetensors", "config.json")}


def state(model):
    """Parameters under their names in the file."""
    return safetensors.torch.load(saved(model)["model.safetensors"])


def vit(**changes):
    """A model for seven classes."""
    settings = SIZES | {"intermediate_size": 24, "image_size": 8, "num_labels": 7} | changes
    return ViTForImageClassification(ViTConfig(**settings))


def main():
    """Write the files."""
    models = {
        "vit": (vit(image_size=[8, 12]), (8, 12), classify),
        "vit_tanh": (vit(hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-6), (8, 8), classify),
        "vit_bfloat16": (vit().bfloat16(), (8, 8), classify),
        "vit_model": (ViTModel(ViTConfig(**SIZES, intermediate_size=24, image_size=8)), (8, 8), class_token),
        "dinov2": (Dinov2Model(Dinov2Config(**SIZES, mlp_ratio=2, image_size=8)), (8, 8), class_token),
    }
    found = {}
    for seed, (name, (model, size, outputs)) in enumerate(models.items(), start=1):
        randomise(model, seed)
        (HERE / "huggingface" / name).mkdir(parents=True, exist_ok=True)
        for file, content in saved(model).items():
            (HERE / "huggingface" / name / file).write_bytes(content)
        found[name] = answers(model, size, outputs, seed, state if name == "vit" else None)
    library = f"transformers {transformers.__version__}, PyTorch {torch.__version__}"
    store(HERE / "huggingface_answers.npz", found, library)


if __name__ == "__main__":
    main()
