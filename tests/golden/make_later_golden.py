"""Write later/ and later_answers.npz: small random models of ViTs that came after the paper's, in files of
transformers and timm, and what these make of two images. Needs torch, transformers and timm; run by hand:

    python -m tests.golden.make_later_golden
"""

import importlib.util
import json
import sys
from pathlib import Path

import timm
import torch
import transformers
from safetensors.torch import load, save_file

from tests.golden.make_huggingface_golden import saved
from tests.golden.make_timm_golden import StandIn
from tests.golden.torch_library import answers, randomise, store

HERE = Path(__file__).parent
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "patch_size": 4,
    "image_size": 12,
}
MLP = {"intermediate_size": 20}
TEXT = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 8,
    "vocab_size": 9,
}
TEXT |= {"max_position_embeddings": 5}


def hugging_face(kind, config, **changes):
    """A model of transformers."""
    return getattr(transformers, kind)(getattr(transformers, config)(**(SIZES | changes)))


def of_timm(name, **changes):
    """A model of timm's, small: its class of architecture is what counts."""
    small = {"embed_dim": 16, "depth": 2, "num_heads": 2, "img_size": 12, "patch_size": 4, "num_classes": 5}
    return timm.create_model(name, **(small | changes)), small | changes


def write(name, files):
    """A folder with these files."""
    (HERE / "later" / name).mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (HERE / "later" / name / file).write_bytes(content)


def main():
    """Write the files."""
    found = {}
    registers = {"num_register_tokens": 3, "mlp_ratio": 2}
    v3 = {"num_register_tokens": 2, "use_gated_mlp": True, "hidden_act": "silu"}
    projected = MLP | {"projection_dim": 6}
    whole = {"vision_config": SIZES | MLP, "text_config": TEXT, "projection_dim": 6}
    models = {  # what is asked of it; and whether its gradients are stored
        "dinov2_registers": (
            hugging_face(
                "Dinov2WithRegistersForImageClassification",
                "Dinov2WithRegistersConfig",
                num_labels=5,
                **registers,
            ),
            lambda model, images: model(images).logits,
            True,
        ),
        "dinov3": (
            hugging_face("DINOv3ViTModel", "DINOv3ViTConfig", **MLP, **v3),
            lambda model, images: model(images).last_hidden_state[:, 0],
            False,
        ),
        "clip": (
            hugging_face("CLIPVisionModelWithProjection", "CLIPVisionConfig", **projected),
            lambda model, images: model(images).image_embeds,
            True,
        ),
        "clip_whole": (
            transformers.CLIPModel(transformers.CLIPConfig(**whole)),
            lambda model, images: model.visual_projection(model.vision_model(images).pooler_output),
            False,
        ),
        "siglip": (
            hugging_face("SiglipVisionModel", "SiglipVisionConfig", **MLP),
            lambda model, images: model(images).pooler_output,
            False,
        ),
        "siglip_classifier": (
            transformers.SiglipForImageClassification(
                transformers.SiglipConfig(vision_config=SIZES | MLP, text_config=TEXT, num_labels=5)
            ),
            lambda model, images: model(images).logits,
            False,
        ),
        "deit": (
            hugging_face("DeiTForImageClassificationWithTeacher", "DeiTConfig", num_labels=5, **MLP),
            lambda model, images: model(images).logits,
            True,
        ),
    }
    for seed, (name, (model, outputs, has_gradients)) in enumerate(models.items(), start=1):
        randomise(model, seed)
        write(name, saved(model))
        state = (lambda model: load(saved(model)["model.safetensors"])) if has_gradients else None
        found[name] = answers(model, (12, 12), outputs, seed, state)
    timms = {
        "eva02": of_timm("eva02_base_patch14_224", mlp_ratio=1.5),
        "pe_core": of_timm("vit_pe_core_tiny_patch16_384", attn_pool_num_heads=4),
        "rope_mixed": of_timm("vit_small_patch16_rope_mixed_ape_224"),
        "dinov3_timm": of_timm("vit_small_plus_patch16_dinov3_qkvb"),
        "registers_map": of_timm("vit_so150m_patch16_reg4_map_256", mlp_ratio=2),
        "clip_timm": of_timm("vit_base_patch32_clip_quickgelu_224"),
        "deit_timm": of_timm("deit_tiny_distilled_patch16_224"),
    }
    for seed, (name, (model, arguments)) in enumerate(timms.items(), start=20):
        randomise(model, seed)
        stated = {"architecture": model.pretrained_cfg["architecture"], "model_args": arguments}
        stated |= {"num_classes": 5, "global_pool": getattr(model, "global_pool", "token")}
        write(name, {"config.json": json.dumps(stated, indent=2).encode()})
        save_file(model.state_dict(), HERE / "later" / name / "model.safetensors")
        found[name] = answers(model, (12, 12), ask, seed, lambda model: dict(model.named_parameters()))
    versions = f"transformers {transformers.__version__}, timm {timm.__version__}"
    store(HERE / "later_answers.npz", found, f"{versions}, PyTorch {torch.__version__}")


def ask(model, images):
    """The answer of one of timm's models."""
    return model(images)


if __name__ == "__main__":
    if importlib.util.find_spec("torchvision") is None:
        sys.meta_path.insert(0, StandIn())
    main()
