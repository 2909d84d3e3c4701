"""Pictures of distance, heads and all positions: nothing overlaps at any size, and colours are right."""

import numpy as np
import pytest

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.attention import save_distance, save_heads
from tinyvit.insight.pictures.colours import heat_colours
from tinyvit.insight.pictures.portrait import save_offset_scores, save_similarities
from tinyvit.insight.pictures.sheet import Sheet

RNG = np.random.default_rng(0)


@pytest.fixture
def unsaved(monkeypatch):
    """Pictures are drawn but not written, which takes most of the time."""
    monkeypatch.setattr(Sheet, "save", lambda sheet, path: None)


def maps(layers, heads, grid):
    shares = RNG.random((layers, heads, *grid))
    return shares / shares.sum(axis=(2, 3), keepdims=True)


def image(size):
    return RNG.integers(0, 256, (*size, 3), dtype=np.uint8)


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 3), (6, 4), (12, 1), (24, 16), (32, 16)])
def test_distances_of_any_model_fit(layers, heads, drawn, unsaved):
    save_distance(RNG.uniform(0, 150, (layers, heads)), 117.0, 1000, "d.png", "a title " * 20)
    drawn.assert_nothing_overlaps()
    assert "uniform: 117.0" in drawn.words()


def test_distances_of_a_single_patch_are_drawn_at_0(drawn, unsaved):
    save_distance(np.zeros((2, 2)), 0.0, 1, "d.png", "a title")
    assert "uniform: 0.0" in drawn.words()


def test_a_head_that_looks_twice_as_far_has_its_dot_twice_as_high(monkeypatch, unsaved):
    dots = []
    monkeypatch.setattr(Sheet, "dot", lambda sheet, at, *_: dots.append(at))
    save_distance(np.array([[0.0, 40.0, 80.0], [0.0, 0.0, 80.0]]), 100.0, 1, "d.png", "a title")
    heights = [dots[0][1] - y for _, y in dots]
    assert heights == pytest.approx([0, heights[1], 2 * heights[1], 0, 0, 2 * heights[1]])
    assert heights[1] > 50
    assert [x for x, _ in dots] == [dots[0][0]] * 3 + [dots[3][0]] * 3


@pytest.mark.parametrize(("layers", "heads", "count"), [(1, 1, 1), (4, 4, 3), (12, 3, 2), (24, 16, 1)])
@pytest.mark.parametrize(("size", "grid"), [((32, 32), (8, 8)), ((20, 90), (2, 9)), ((400, 100), (4, 1))])
def test_heads_of_any_model_fit(layers, heads, count, size, grid, drawn, unsaved):
    rows = [(image(size), maps(layers, heads, grid), "a class with a very long name 100%")] * count
    save_heads(rows, "h.png", "a title", "class token")
    drawn.assert_nothing_overlaps()
    assert len(drawn.images) == count * (layers * heads + 1) + 1  # and the scale


def test_the_patch_that_a_head_looks_at_is_the_brightest_of_its_map(tmp_path, drawn):
    shares = np.full((2, 3, 4, 4), 0.01)
    shares[1, 2, 3, 0] = 1.0  # block 2, head 3, lower left
    save_heads([(image((32, 32)), shares, "")], tmp_path / "h.png", "a title", "class token")
    left, top, right, bottom = drawn.images[6][1]
    seen = pixels(tmp_path / "h.png")[int(top) : int(bottom), int(left) : int(right)].sum(axis=2)
    patches = seen.reshape(4, seen.shape[0] // 4, 4, seen.shape[1] // 4).mean(axis=(1, 3))
    assert np.unravel_index(patches.argmax(), patches.shape) == (3, 0)


@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (14, 14), (2, 30)])
@pytest.mark.parametrize("tables", [1, 4])
def test_every_patch_has_its_map_and_is_lightest_there(grid, tables, tmp_path, drawn):
    gh, gw = grid
    e = RNG.normal(size=(tables, gh * gw, 6))
    e /= np.linalg.norm(e, axis=2, keepdims=True)
    save_similarities([(one @ one.T).reshape(*grid, *grid) for one in e], tmp_path / "p.png", "a title")
    drawn.assert_nothing_overlaps()
    picture = pixels(tmp_path / "p.png")
    light = heat_colours(np.array(1.0))
    for _, (left, top, right, bottom) in drawn.images[:tables]:
        down, across = (bottom - top) / gh, (right - left) / gw
        side = (down - 3) / gh  # 3 points of paper after each map
        for r, c in {(0, 0), (gh - 1, gw - 1), (gh // 2, gw // 3)}:
            at = int(top + r * down + (r + 0.5) * side), int(left + c * across + (c + 0.5) * side)
            assert (picture[at] == light).all()


@pytest.mark.parametrize(("layers", "heads", "grid"), [(1, 1, (1, 1)), (4, 4, (8, 8)), (12, 12, (14, 14))])
def test_scores_of_offsets_are_brightest_where_they_are_highest(layers, heads, grid, tmp_path, drawn):
    h, w = (2 * side - 1 for side in grid)
    scores = np.zeros((layers, heads, h, w))
    scores[-1, -1, 0, -1] = 2.0
    save_offset_scores(scores, tmp_path / "o.png", "a title")
    drawn.assert_nothing_overlaps()
    left, top, right, _ = drawn.images[layers * heads - 1][1]
    picture = pixels(tmp_path / "o.png")
    side = (right - left) / w
    assert (picture[int(top + side / 2), int(right - side / 2)] == heat_colours(np.array(1.0))).all()
    if w > 1:
        assert (picture[int(top + side / 2), int(left + side / 2)] == heat_colours(np.array(0.5))).all()
