"""What is printed of a stranger's file cannot take over the terminal."""

import pickle

from tinyvit.errors import UserError, printable


def test_what_a_terminal_would_obey_is_written_out():
    text = "\x1b[2Ja\tb\x9b\u202ec\x00"
    assert printable(text) == r"\x1b[2Ja\tb\x9b\u202ec\x00"
    assert printable("plain, é, 猫 and می‌روم") == "plain, é, 猫 and می‌روم"


def test_a_message_is_one_line_of_bounded_length_that_keeps_its_advice():
    message = str(UserError("a.npz contains \x1b[31m" + "x" * 79_000 + ".\nDelete it."))
    assert len(message) < 2000
    assert message.startswith(r"a.npz contains \x1b[31mxxx")
    assert message.endswith("xx. Delete it.")


def test_an_error_survives_the_way_between_processes():
    error = UserError("a\nb")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "a b"
