"""Text that fits, in characters that the font has."""

import pytest

from tinyvit.insight.pictures import sheet as module
from tinyvit.insight.pictures.sheet import Sheet, cut, cut_middle, drawable, font, text_width

SYSTEM = module._fonts()


@pytest.fixture(autouse=True)
def no_fonts(monkeypatch):
    """As on a machine without fonts of its own, whatever this one has."""
    use(monkeypatch)


def use(monkeypatch, *fonts):
    monkeypatch.setattr(module, "_fonts", lambda: fonts)
    for cached in (module.font, module.drawable, module._font_with):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("disc 99%", "disc 99%"),
        ("bleu foncé", "bleu fonce"),
        ("4 × 4", "4 x 4"),
        ("two\nlines", "two\nlines"),
        ("кот", r"\u043a\u043e\u0442"),
        ("a\tb\x07", r"a\tb\x07"),
        ("bad \udc80 name", r"bad \udc80 name"),
    ],
)
def test_what_no_font_has_is_replaced_or_written_as_its_code_point(text, drawn):
    assert drawable(text) == drawn


@pytest.mark.parametrize("shorten", [cut, cut_middle])
def test_a_caption_has_one_line_whatever_a_file_is_called(shorten):
    assert shorten("two\nlines\r.png", 1000, 14) == r"two\nlines\r.png"


@pytest.mark.parametrize("text", ["кошка", "Zürich", "γάτα"])
def test_a_font_of_the_system_that_has_all_characters_draws_them_as_they_are(monkeypatch, tmp_path, text):
    found = next((path for path in SYSTEM if module._has(path, frozenset(text))), None)
    if found is None:
        pytest.skip("this machine has no font with these characters")
    (tmp_path / "broken.ttf").write_text("not a font")
    use(monkeypatch, str(tmp_path / "broken.ttf"), found)
    assert drawable(text) == text and cut(text, 1000, 14) == text
    assert font(14, text).path == found
    assert not module._has(found, frozenset(text) | {"\ufffe"})
    Sheet(100, 40).text(10, 10, text)


def test_the_pictures_own_words_are_drawn_alike_on_every_machine(monkeypatch):
    use(monkeypatch, *SYSTEM)
    for text in ("4 × 4", "accuracy 93.1%", "a · b", "–1 … 1"):
        assert module._is_plain(drawable(text))


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
