"""A layout that cannot hold a model is refused, and exactly the formats that can are suggested."""

import pytest

from tests.weights.checkpoints import random_model
from tinyvit.support.errors import UserError
from tinyvit.weights.official import to_official
from tinyvit.weights.torch_names import to_hugging_face, to_timm, to_torch_names

WRITERS = {
    "an .npz file in the official layout": to_official,
    "a .safetensors file": to_torch_names,
    "a folder for Hugging Face": to_hugging_face,
    "a folder for timm": to_timm,
}
READOUTS = [{}, {"pool": "mean"}, {"pre_logits": 3}]
RESNETS = [None, "official", "timm"]


@pytest.mark.parametrize("resnet", RESNETS)
@pytest.mark.parametrize("readout", READOUTS, ids=str)
@pytest.mark.parametrize("eps", [1e-6, 1e-12, 1e-5])
@pytest.mark.parametrize("gelu", ["tanh", "exact"])
def test_the_formats_that_are_suggested_are_those_that_can_hold_the_model(gelu, eps, readout, resnet):
    hybrid = {"image_size": 16, "patch_size": 2, "resnet": (), "resnet_form": resnet} if resnet else {}
    model = random_model(gelu=gelu, eps=eps, **readout, **hybrid)
    refusals = {name: message for name, write in WRITERS.items() if (message := _refusal(write, *model))}
    for refused, message in refusals.items():
        advice = message.split("Instead, write ")[1]
        assert {name for name in WRITERS if name in advice} == WRITERS.keys() - refusals.keys(), refused
        assert advice.endswith("an .onnx file.")


def test_the_advice_is_a_sentence():
    message = _refusal(to_torch_names, *random_model())
    assert message.endswith(
        "Instead, write an .npz file in the official layout, a folder for Hugging Face, a folder for timm or "
        "an .onnx file."
    )


def _refusal(write, config, params):
    try:
        write(config, params)
    except UserError as error:
        return str(error)
    return ""
