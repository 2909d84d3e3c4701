"""Text that fits, in characters that the font has."""

import pytest

from tinyvit.pictures.text import cut, cut_middle, drawable, font, text_width


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("disc 99%", "disc 99%"),
        ("bleu foncé", "bleu fonce"),
        ("4 × 4", "4 x 4"),
        ("two\nlines", "two\nlines"),
        ("красный", "???????"),
        ("a\tb\x07", "a?b?"),
        ("bad \udc80 name", "bad ? name"),
    ],
)
def test_what_the_font_lacks_is_replaced(text, drawn):
    assert drawable(text) == drawn


def test_every_character_that_is_left_alone_has_a_shape_of_its_own():
    missing = bytes(font(20).getmask("\ufffe"))
    everything = (chr(code) for code in range(33, 0x2FFF))
    assert all(bytes(font(20).getmask(c)) != missing for c in everything if drawable(c) == c)


@pytest.mark.parametrize("shorten", [cut, cut_middle])
@pytest.mark.parametrize("width", [20, 60, 111.5, 300])
def test_shortened_text_fits_and_is_as_long_as_can_be(shorten, width):
    text = "runs/cifar10-augmented-with-everything-17"
    short = shorten(text, width, 14)
    assert text_width(short, 14) <= width
    if width < text_width(text, 14):
        assert "…" in short
        assert text_width(short, 14) > width - 2 * text_width("W", 14)
    else:
        assert short == text


def test_what_is_cut_away_is_the_end_or_the_middle():
    text = "one-long-name-of-a-file.jpg"
    assert text.startswith(cut(text, 100, 14)[:-1])
    start, end = cut_middle(text, 100, 14).split("…")
    assert text.startswith(start) and text.endswith(end)
    assert 0 <= len(start) - len(end) <= 1


@pytest.mark.parametrize("shorten", [cut, cut_middle])
def test_empty_text_and_missing_room_do_no_harm(shorten):
    assert shorten("", 0, 14) == ""
    assert shorten("word", 0, 14) == "…"
