"""The world and the towers of lesson 24: what is kept out of the training, and that both losses train."""

import importlib

import numpy as np
import pytest

pictures = importlib.import_module("lessons.24_pictures_and_words.pictures")
towers = importlib.import_module("lessons.24_pictures_and_words.towers")


def test_what_is_never_shown_leaves_every_colour_and_every_shape_to_the_training():
    assert len(pictures.PAIRS) == len(set(pictures.PAIRS)) == 100
    assert set(pictures.NEVER) | set(pictures.SHOWN) == set(pictures.PAIRS)
    assert len(pictures.NEVER) == 10 and len(pictures.SHOWN) == 90
    assert {len(set(each)) for each in zip(*pictures.NEVER, strict=True)} == {10}
    assert ("red", "star") in pictures.NEVER


def test_no_caption_of_the_training_names_a_pair_that_is_kept():
    _, captions, which = pictures.draw(500, pictures.SHOWN, np.random.default_rng(0))
    kept = {pictures.caption(n, *pair) for n in (1, 2, 3) for pair in pictures.NEVER}
    assert not kept & set(captions)
    for caption, i in zip(captions, which, strict=True):
        colour, shape = pictures.SHOWN[i]
        assert f" {colour} " in caption and caption.endswith((shape, pictures.PLURALS[shape]))


def test_a_picture_shows_what_its_caption_says():
    images, captions, which = pictures.draw(60, pictures.PAIRS, np.random.default_rng(1))
    for image, caption, i in zip(images.astype(float), captions, which, strict=True):
        colour = np.array(pictures.COLOURS[pictures.PAIRS[i][0]])
        ground = np.median(image.reshape(-1, 3), axis=0)
        quarters = image.reshape(2, 16, 2, 16, 3).swapaxes(1, 2).reshape(4, -1, 3)
        nearer = np.abs(quarters - 0.925 * colour).sum(axis=2) < np.abs(quarters - ground).sum(axis=2)
        assert (nearer.sum(axis=1) > 12).sum() == 1 + pictures.NUMBERS.index(caption.split()[0]), caption


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
def test_the_towers_train(loss, monkeypatch):
    monkeypatch.setattr(towers, "PICTURES", 200)
    told = []
    trained, losses = towers.train(loss, steps=100, batch=16, report=lambda *each: told.append(each))
    assert len(losses) == 100 and len(told) == 1
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])
    assert 1 < np.exp(trained.text["log_scale"][0]) <= 100.001
    right, colour, shape = towers.zero_shot(trained, pictures.SHOWN, count=100)
    assert right <= min(colour, shape) and colour > 0.5  # guessing: 0.1


def test_the_same_seed_gives_the_same_towers(monkeypatch):
    monkeypatch.setattr(towers, "PICTURES", 50)
    one, other = (towers.train(steps=5, batch=8)[0] for _ in range(2))
    assert np.array_equal(one.image.flat, other.image.flat) and np.array_equal(one.text.flat, other.text.flat)


def test_a_scale_that_is_not_learned_stays(monkeypatch):
    monkeypatch.setattr(towers, "PICTURES", 50)
    trained, _ = towers.train(steps=3, batch=8, width=8, scale=5.0, learned=False)
    assert np.exp(trained.text["log_scale"][0]) == pytest.approx(5.0)
