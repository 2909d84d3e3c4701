"""Text from a stranger's file cannot take over the terminal when it is printed."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from tinyvit.support.errors import UserError, class_name, nearest, one_line, printable


def test_what_a_terminal_would_obey_is_written_out():
    text = "\x1b[2Ja\tb\x9b\u202ec\x00"
    assert printable(text) == r"\x1b[2Ja\tb\x9b\u202ec\x00"
    assert printable("plain, é, 猫 and می‌روم") == "plain, é, 猫 and می‌روم"


def test_names_of_classes_are_printable_and_have_composed_accents():
    assert class_name("cafe\u0301") == class_name("caf\u00e9") == "caf\u00e9"
    assert class_name("two\nlines") == r"two\nlines"


def test_of_many_names_the_most_similar_are_offered():
    names = [f"class {i}" for i in range(1000)] + ["crane (134)", "crane (517)"]
    assert nearest("crane", names[-2:]) == "crane (134), crane (517)"
    assert "crane (134)" in nearest("crane", names) and "crane (517)" in nearest("crane", names)
    assert nearest("%", names) == "class 0, class 1, class 2, class 3, class 4 and 997 others"


def test_of_a_word_too_long_to_be_read_both_ends_are_kept():
    path = "/" + "a" * 254
    assert str(UserError(f"there is no file {path}.")) == f"there is no file {path}."
    message = str(UserError("a.npz contains \x1b[31m" + "x" * 79_000 + ".png.\nDelete it."))
    assert len(message) < 350
    assert message.startswith(r"a.npz contains \x1b[31mxxx")
    assert message.endswith("xx.png. Delete it.")


def test_a_message_of_many_words_is_of_bounded_length_and_keeps_its_advice():
    message = str(UserError("a.npz contains " + "x " * 79_000 + "\nDelete it."))
    assert len(message) < 2000
    assert message.startswith("a.npz contains x x")
    assert message.endswith("x x  Delete it.")


@given(st.text() | st.text("ab \n\x1b", min_size=250, max_size=5000))
def test_a_message_that_was_made_one_line_stays_as_it_is(text):
    assert one_line(one_line(text)) == one_line(text)


def test_an_error_survives_the_way_between_processes():
    error = UserError("a\nb")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "a b"
