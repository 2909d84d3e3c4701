"""A model is a configuration, parameters that fit it, and perhaps the names of its classes."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tests.weights.checkpoints import random_model
from tinyvit.model import Model, initialise, preset


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_a_new_head_is_zero_and_all_else_as_it_was(pool):
    model = Model(*random_model(pre_logits=3, pool=pool), "abcde")
    before = model.params.flat.copy()
    new = model.with_new_head(9)
    assert (new.config.classes, new.config.pre_logits, new.classes) == (9, 0, ())
    assert new.params["head.weight"].shape == (12, 9) and new.params["head.bias"].shape == (9,)
    assert not new.params["head.weight"].any() and not new.params["head.bias"].any()
    assert set(model.params) - set(new.params) == {"pre_logits.weight", "pre_logits.bias"}
    for name in set(new.params) - {"head.weight", "head.bias"}:
        np.testing.assert_array_equal(new.params[name], model.params[name])
    np.testing.assert_array_equal(model.params.flat, before)


def test_a_new_head_for_as_many_classes_keeps_nothing_of_the_old_one():
    """An old weight or bias would fit where shapes agree: it must not stay."""
    model = Model(*random_model())
    new = model.with_new_head(model.config.classes)
    assert model.params["head.bias"].all()
    assert not new.params["head.weight"].any() and not new.params["head.bias"].any()


def test_with_a_new_head_a_model_that_predicted_patches_tells_images_apart():
    model = Model(*random_model(predicts="patches"))
    new = model.with_new_head(3)
    assert new.has_head and new.config.predicts == "image"
    assert set(model.params) - set(new.params) == {"mask_token"}


def test_classes_are_named_or_numbered():
    config, params = random_model()
    assert Model(config, params, ["a", "b", "c", "d", "e"]).names == ("a", "b", "c", "d", "e")
    assert Model(config, params).names == ("class 0", "class 1", "class 2", "class 3", "class 4")


def test_parameters_that_do_not_fit_the_configuration_are_refused_by_name():
    params = initialise(tiny_config())
    with pytest.raises(ValueError, match=r"position should have shape \(10, 12\), but has \(5, 12\)"):
        Model(tiny_config(image_size=12), params)
    with pytest.raises(ValueError, match=r"class_token should have shape None, but has \(12,\)"):
        Model(tiny_config(image_size=(4, 20), pool="mean"), params)


def test_as_many_names_as_classes_or_none():
    with pytest.raises(ValueError, match="3 class names for 5 classes"):
        Model(*random_model(), "abc")


def test_the_repr_says_what_the_model_is():
    text = repr(Model(*random_model(image_size=(8, 12))))
    assert text == (
        "Model(2 layers, width 12, 3 heads, patches of 4 x 4, images of 8 x 12, 5 classes, "
        f"{random_model(image_size=(8, 12))[1].count:,} parameters)"
    )


def test_the_repr_of_a_resnet_names_its_stages_instead():
    config = preset("resnet-nano", 32, 10)
    text = repr(Model(config, initialise(config)))
    assert text.startswith(
        "Model(ResNet with stages of 2, 2, 3 units, width 512, images of 32 x 32, 10 classes"
    )


def test_only_a_model_that_tells_images_apart_has_a_head():
    for classes, predicts, expected in ((2, "image", True), (1, "image", False), (5, "patches", False)):
        config = tiny_config(classes=classes, predicts=predicts)
        assert Model(config, initialise(config)).has_head is expected
