"""Hybrids in timm's layout: written and read back, or refused where timm has no such model."""

import numpy as np
import pytest

from tests.weights.checkpoints import EXACT, complaint, random_model
from tinyvit.model import initialise, preset
from tinyvit.weights.official import to_official
from tinyvit.weights.torch_names import from_torch_names, to_hugging_face, to_torch_names


@pytest.mark.parametrize("resnet", [(), (2, 1)], ids=str)
def test_a_hybrid_with_the_arithmetic_of_timm_is_written_and_read_back(resnet):
    config, params = random_model(image_size=32, patch_size=2, resnet=resnet, resnet_form="timm", **EXACT)
    arrays = to_torch_names(config, params)
    known = {"heads": config.heads, "image_size": 32}
    read, found = from_torch_names(arrays, "file", known)
    assert read == config
    np.testing.assert_array_equal(found.flat, params.flat)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "with resnet_form 'official' does not fit timm's layout, which implies 'timm'"),
        ({"resnet_form": "timm", "resnet_width": 32}, "with resnet_width 32 does not fit timm's"),
        ({"resnet_form": "timm", "gelu": "tanh"}, "with gelu 'tanh' does not fit timm's"),
    ],
)
def test_a_hybrid_that_timm_does_not_have_is_not_written_with_its_names(change, message):
    config, params = random_model(image_size=16, patch_size=2, resnet=(), **(EXACT | change))
    assert message in complaint(to_torch_names, config, params)
    assert "Hugging Face's ViT has no ResNet" in complaint(to_hugging_face, config, params)


def test_a_resnet_without_a_transformer_or_with_fewer_groups_fits_no_layout_of_others():
    for name, what in (("resnet-nano", "a ResNet without a"), ("R5+nano/4", "4 groups in its GroupNorms")):
        config = preset(name, 32, 10)
        params = initialise(config)
        for write in (to_torch_names, to_hugging_face, to_official):
            said = complaint(write, config, params)
            assert what in said and "fits no layout of other programs" in said


def test_a_resnet_without_the_stages_that_its_stem_announces_is_refused():
    stem = {"patch_embed.backbone.stem.conv.weight": np.zeros((64, 3, 7, 7), "float32")}
    assert "no units in its stages" in complaint(
        from_torch_names, to_torch_names(*random_model(**EXACT)) | stem, "file", {"heads": 3}
    )
