"""RandAugment draws all operations alike; AutoAugment follows its table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.data import POLICIES, make_policy
from tinyvit.data.augment import NAMES, RANGES, autoaugment, draw_jitter, randaugment, unchanged

# AutoAugment's policy for CIFAR-10 (table 7 of the paper): operation, probability, level where it counts.
TABLE_7 = """
invert 0.1 0, contrast 0.2 6;         rotate 0.7 2, translate_x 0.3 9;     sharpness 0.8 1, sharpness 0.9 3
shear_y 0.5 8, translate_y 0.7 9;     autocontrast 0.5 0, equalize 0.9 0;  shear_y 0.2 7, posterize 0.3 7
colour 0.4 3, brightness 0.6 7;       sharpness 0.3 9, brightness 0.7 9;   equalize 0.6 0, equalize 0.5 0
contrast 0.6 7, sharpness 0.6 5;      colour 0.7 7, translate_x 0.5 8;     equalize 0.3 0, autocontrast 0.4 0
translate_y 0.4 3, sharpness 0.2 6;   brightness 0.9 6, colour 0.2 8;      solarize 0.5 2, invert 0.0 0
equalize 0.2 0, autocontrast 0.6 0;   equalize 0.2 0, equalize 0.6 0;      colour 0.9 9, equalize 0.6 0
autocontrast 0.8 0, solarize 0.2 8;   brightness 0.1 3, colour 0.7 0;      solarize 0.4 5, autocontrast 0.9 0
translate_y 0.9 9, translate_y 0.7 9; autocontrast 0.9 0, solarize 0.8 3;  equalize 0.8 0, invert 0.1 0
translate_y 0.7 9, autocontrast 0.9 0
"""


def outcomes(name, probability, level):
    """The possible outcomes of a row's operation, (kind, amount in thousandths), and their probabilities."""
    start, change, signed = RANGES[name]
    amounts = [start + sign * change * int(level) / 9 for sign in ((-1, 1) if signed else (1,))]
    found = {("identity", 0): 1 - float(probability)}
    for amount in amounts:
        key = (name, round(1000 * amount))
        found[key] = found.get(key, 0.0) + float(probability) / len(amounts)
    return found


def expected_shares():
    """The share of each pair of outcomes, if the pairs of the table are equally likely."""
    shares = {}
    for pair in TABLE_7.strip().replace("\n", ";").split(";"):
        one, other = (outcomes(*words.split()) for words in pair.split(","))
        for a, p in one.items():
            for b, q in other.items():
                shares[a, b] = shares.get((a, b), 0.0) + p * q / 25
    return {key: share for key, share in shares.items() if share > 0}


def test_autoaugment_follows_the_papers_table():
    count, expected = 100_000, expected_shares()
    drawn = autoaugment(np.random.default_rng(0), count)
    thousandths = np.rint(1000 * drawn["amount"]).astype(int)
    kinds, times = np.unique(
        np.stack([drawn["kind"], thousandths], axis=-1).reshape(count, 4), axis=0, return_counts=True
    )
    found = {((NAMES[a], x), (NAMES[b], y)): n for (a, x, b, y), n in zip(kinds.tolist(), times, strict=True)}
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert abs(found[key] - count * share) < 6 * np.sqrt(count * share), key


def test_randaugment_draws_every_operation_as_often_and_in_both_directions():
    drawn = randaugment(np.random.default_rng(0), 20_000, rounds=3, magnitude=10.0)
    assert drawn.shape == (20_000, 3)
    for column in drawn.T:
        counts = np.bincount(column["kind"], minlength=len(NAMES))
        assert counts[NAMES.index("invert")] == 0
        others = counts[[name != "invert" for name in NAMES]]
        assert abs(others - 20_000 / 14).max() < 5 * np.sqrt(20_000 / 14)
    for name, (start, change, signed) in RANGES.items():
        of_name = drawn["amount"][drawn["kind"] == NAMES.index(name)]
        if signed:
            assert abs((of_name > start).mean() - 0.5) < 5 * 0.5 / np.sqrt(len(of_name))
            np.testing.assert_allclose(abs(of_name - start), change / 3, rtol=1e-12)
        elif name != "invert":
            np.testing.assert_allclose(of_name, start + change / 3, rtol=1e-12)


@given(count=st.integers(1, 50), seed=seeds())
def test_a_magnitude_of_0_leaves_every_amount_where_it_starts(count, seed):
    drawn = randaugment(np.random.default_rng(seed), count, 2, 0.0)
    starts = np.array([RANGES[name].start for name in NAMES])
    np.testing.assert_array_equal(drawn["amount"], starts[drawn["kind"]])


def test_jitter_changes_three_tones_of_each_image_in_an_order_of_its_own():
    """Of 6,000 images, each order has 1,000, give or take 29; the mean of the factors strays by 0.0017."""
    drawn = draw_jitter(np.random.default_rng(0), 6000, 0.4)
    orders, counts = np.unique(np.array(NAMES)[drawn["kind"]], axis=0, return_counts=True)
    assert orders.shape == (6, 3) and abs(counts - 1000).max() < 150
    assert all(set(order) == {"brightness", "contrast", "colour"} for order in orders.tolist())
    amounts = drawn["amount"]
    assert 0.6 <= amounts.min() < 0.601 and 1.399 < amounts.max() <= 1.4
    assert amounts.mean() == pytest.approx(1, abs=0.009)


def test_a_policy_is_made_by_its_name():
    def drawn(policy):
        return policy(np.random.default_rng(5), 40).tobytes()

    assert drawn(make_policy()) == drawn(make_policy("none", 3, 20.0)) == drawn(unchanged) == b""
    assert drawn(make_policy("autoaugment")) == drawn(autoaugment)
    by_hand = randaugment(np.random.default_rng(5), 40, rounds=3, magnitude=20.0)
    assert drawn(make_policy("randaugment", 3, 20.0)) == by_hand.tobytes()
    assert {"none", "randaugment", "autoaugment"} == set(POLICIES)
    with pytest.raises(ValueError, match="unknown policy 'trivial', expected one of none, randaugment"):
        make_policy("trivial")
