import numpy as np
import pytest

from tests.pretrained.checkpoints import random_model
from tinyvit.model import with_new_head


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_a_new_head_is_zero_and_all_else_as_it_was(pool):
    config, params = random_model(pre_logits=3, pool=pool)
    new, changed = with_new_head(config, params, 9)
    assert (new.classes, new.pre_logits) == (9, 0)
    assert changed["head.weight"].shape == (12, 9) and changed["head.bias"].shape == (9,)
    assert not changed["head.weight"].any() and not changed["head.bias"].any()
    assert set(params) - set(changed) == {"pre_logits.weight", "pre_logits.bias"}
    for name in set(changed) - {"head.weight", "head.bias"}:
        np.testing.assert_array_equal(changed[name], params[name])
