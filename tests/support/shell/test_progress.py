"""The progress on a terminal of any width, in a pipe, and where only ASCII can be shown."""

import io
import re

import pytest

from tests.support.shell.terminal import ESCAPE_CODE, Clock, Stream, screen
from tinyvit.support.shell.moving_line import is_watched
from tinyvit.support.shell.progress import Progress

CLOSED = io.StringIO()
CLOSED.close()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def make(terminal=True, encoding="utf-8"):
    stream, clock = Stream(terminal, encoding), Clock()
    return Progress(stream, clock), stream, clock


def show_step(progress, clock, done=27, total=40, seconds_left=41.0, after=1.0, loss=0.8123):
    clock.now += after
    progress.step(3, 12, done, total, loss, 812.4, seconds_left)


def test_moving_line_shows_where_a_run_is():
    progress, stream, clock = make()
    show_step(progress, clock)
    (row,) = screen(stream.text, 100)
    assert re.fullmatch(r"epoch  3/12  ━+╸?─+  27/40   loss 0.812   812 img/s   0:41 left", row)


def test_bar_is_as_full_as_the_epoch_is_done():
    progress, stream, clock = make()
    filled = []
    for done in (0, 10, 20, 30, 40):
        show_step(progress, clock, done)
        bar = re.search(r"[━╸─]+", screen(stream.text, 100)[0]).group()
        filled.append((bar.count("━") + 0.5 * bar.count("╸")) / len(bar))
    assert filled == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("columns", [12, 30, 40, 52, 60, 79, 200])
def test_moving_lines_never_wrap(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    progress, stream, clock = make()
    show_step(progress, clock)
    progress.epoch(3, 12, 0.812, 0.712, 0.712, 812.0, 41.0, is_best=True)
    report = progress.download("cifar-10-binary.tar.gz")
    clock.now += 3
    report(50_000_000, 170_000_000)
    clock.now += 3
    report(60_000_000, None)
    clock.now += 3
    progress.count("photographs")(2_000, 50_000)
    screen(stream.text, columns)


def test_narrow_terminal_still_shows_loss_and_time_left(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    progress, stream, clock = make()
    show_step(progress, clock)
    assert screen(stream.text, 40) == ["epoch  3/12   loss 0.812   0:41 left"]


def test_shorter_line_covers_the_longer_one():
    progress, stream, clock = make()
    show_step(progress, clock, seconds_left=40_000.0)
    show_step(progress, clock, seconds_left=5.0)
    assert screen(stream.text, 100)[0].endswith("812 img/s   0:05 left")


def test_note_is_printed_above_the_moving_line():
    progress, stream, clock = make()
    show_step(progress, clock)
    progress.note("saved")
    note, moving = screen(stream.text, 100)
    assert note == "saved"
    assert moving.startswith("epoch  3/12")


def test_epoch_line_takes_the_place_of_the_moving_line():
    progress, stream, clock = make()
    show_step(progress, clock)
    progress.epoch(3, 12, 0.812, 0.712, 0.75, 812.0, 41.0)
    line, cursor = screen(stream.text, 100)
    assert line == "epoch  3/12  loss 0.812   test 71.2%   best 75.0%       812 img/s     0:41"
    assert cursor == ""


def test_epoch_lines_stand_in_columns():
    progress, stream, _ = make(terminal=False)
    progress.epoch(1, 100, 12.5, None, None, 9.4, 5.0)
    progress.epoch(10, 100, 0.5, 0.05, 0.05, 812.0, 700.0, label="test", is_best=True)
    progress.epoch(100, 100, 0.01, 1.0, 1.0, 123_456.0, 3_700.0, is_best=True)
    lines = stream.text.splitlines()
    for word in ("loss", "test", "best", "img/s"):
        assert len({line.index(word) for line in lines}) == 1, word
    assert len({len(line) for line in lines}) == 1


def test_star_marks_the_best_epoch_only():
    progress, stream, _ = make(terminal=False)
    progress.epoch(1, 4, 1.0, 0.5, 0.5, 812.0, 41.0, is_best=True)
    progress.epoch(2, 4, 1.0, 0.4, 0.5, 812.0, 41.0)
    progress.epoch(3, 4, 1.0, 0.5, 0.5, 812.0, 41.0)  # as accurate, but not the one that was kept
    progress.epoch(4, 4, 1.0, None, 0.5, 812.0, 41.0)
    assert ["*" in line for line in stream.text.splitlines()] == [True, False, False, False]


def test_terminal_is_redrawn_ten_times_a_second_at_most_but_for_the_last_step():
    progress, stream, clock = make()
    for done in range(1, 44):
        show_step(progress, clock, done, total=43, after=0.025)
    assert 10 <= stream.text.count("\r") <= 12
    assert " 43/43 " in screen(stream.text, 100)[0]


def test_an_epoch_without_images_to_judge_by_has_no_result():
    progress, stream, _ = make(terminal=False)
    progress.epoch(1, 4, 1.0, None, None, 812.0, 41.0, label="")
    assert stream.text.split() == ["epoch", "1/4", "loss", "1.000", "812", "img/s", "0:41"]


def test_a_notebook_moves_lines_too_though_it_is_no_terminal():
    stream, clock = Stream(terminal=False), Clock()
    stream.__class__ = type("OutStream", (Stream,), {"__module__": "ipykernel.iostream"})
    show_step(Progress(stream, clock), clock)
    assert stream.text.startswith("\r") and "27/40" in screen(stream.text, 100)[0]


@pytest.mark.parametrize("stream", [None, object(), CLOSED], ids=["none", "no stream", "closed"])
def test_what_is_no_stream_is_not_watched(stream):
    assert not is_watched(stream)


def test_pipe_gets_one_line_for_each_epoch():
    progress, stream, clock = make(terminal=False)
    for epoch in (1, 2):
        for done in range(1, 21):
            show_step(progress, clock, done, total=20)
        progress.epoch(epoch, 2, 0.8, 0.7, 0.7, 812.0, 20.0)
    assert [line[:9] for line in stream.text.splitlines()] == ["epoch 1/2", "epoch 2/2"]


def test_pipe_gets_a_plain_line_every_thirty_seconds():
    progress, stream, clock = make(terminal=False)
    for done in range(1, 71):
        show_step(progress, clock, done, total=99)
    assert stream.text == (
        "epoch  3/12  30/99   loss 0.812   812 img/s   0:41 left\n"
        "epoch  3/12  60/99   loss 0.812   812 img/s   0:41 left\n"
    )


def print_everything(progress, clock):
    progress.header("shapes", "vit-nano/4", "NumPy")
    show_step(progress, clock)
    progress.note("saved")
    progress.epoch(3, 12, 0.812, 0.712, 0.712, 812.0, 41.0, is_best=True)
    report = progress.download("data.tar")
    clock.now += 40
    report(1_000_000, 2_000_000)
    report(2_000_000, 2_000_000)
    report = progress.count("photos")
    clock.now += 40
    report(1, 2)
    report(2, 2)
    progress.close()


def test_colours_on_a_terminal():
    progress, stream, clock = make()
    print_everything(progress, clock)
    assert "\x1b[36m" in stream.text
    assert "\x1b[32m" in stream.text


def test_no_escape_codes_or_carriage_returns_in_a_pipe():
    progress, stream, clock = make(terminal=False)
    print_everything(progress, clock)
    assert "data.tar" in stream.text
    assert not set("\x1b\r") & set(stream.text)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_escape_codes_where_they_are_not_wanted(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    progress, stream, clock = make()
    print_everything(progress, clock)
    assert "data.tar" in stream.text
    assert "\x1b" not in stream.text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_ascii_where_the_encoding_lacks_the_signs(encoding):
    progress, stream, clock = make(encoding=encoding)
    print_everything(progress, clock)
    assert stream.text.isascii()
    assert "tinyvit - shapes - vit-nano/4 - NumPy" in ESCAPE_CODE.sub("", stream.text)
    assert re.search(r"  =+>?-+  27/40", ESCAPE_CODE.sub("", stream.text))


def test_note_that_cannot_be_encoded_is_printed_as_far_as_possible():
    progress, stream, _ = make(terminal=False, encoding="ascii")
    progress.note("класс cat")
    assert stream.text == "????? cat\n"


def test_header_names_the_parts():
    progress, stream, _ = make(terminal=False)
    progress.header("shapes", "vit-nano/4, 118,410 parameters", "NumPy on 2 threads")
    assert stream.text == "tinyvit · shapes · vit-nano/4, 118,410 parameters · NumPy on 2 threads\n"


def test_close_leaves_the_line_and_a_fresh_row():
    progress, stream, clock = make()
    show_step(progress, clock)
    progress.close()
    progress.close()
    line, cursor = screen(stream.text, 100)
    assert "27/40" in line
    assert cursor == ""


def test_download_shows_size_speed_and_time_left_then_a_line_that_stays():
    progress, stream, clock = make()
    report = progress.download("cifar.tar.gz")
    report(0, 170_000_000)
    clock.now += 2
    report(40_000_000, 170_000_000)
    (moving,) = screen(stream.text, 100)
    assert re.fullmatch(r"cifar.tar.gz  ━+╸?─+   40.0/170.0 MB   20.0 MB/s   0:06 left", moving)
    clock.now += 8
    report(170_000_000, 170_000_000)
    assert screen(stream.text, 100) == ["cifar.tar.gz  170.0 MB in 0:10   17.0 MB/s", ""]


def test_download_of_unknown_length_shows_what_came():
    progress, stream, clock = make()
    report = progress.download("cifar.tar.gz")
    report(0, None)
    clock.now += 2
    report(40_000_000, None)
    assert screen(stream.text, 100) == ["cifar.tar.gz  40.0 MB   20.0 MB/s"]


def test_the_speed_of_a_download_does_not_count_what_an_earlier_one_left():
    progress, stream, clock = make()
    report = progress.download("cifar.tar.gz")
    report(100_000_000, 170_000_000)
    clock.now += 2
    report(120_000_000, 170_000_000)
    assert "10.0 MB/s   0:05 left" in screen(stream.text, 100)[0]
    clock.now += 23
    report(170_000_000, 170_000_000)
    assert screen(stream.text, 100)[0] == "cifar.tar.gz  170.0 MB in 0:25   2.8 MB/s"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("closed file")])
def test_training_goes_on_when_printing_fails(error):
    progress, stream, _ = make()
    stream.write = _raise(error)
    progress.note("text")


def test_a_closed_pipe_is_raised():
    progress, stream, _ = make()
    stream.write = _raise(BrokenPipeError())
    with pytest.raises(BrokenPipeError):
        progress.note("text")


def test_images_worked_through_show_their_number_and_time_left_then_a_line_that_stays():
    progress, stream, clock = make()
    report = progress.count("photos")
    clock.now += 5
    report(1_250, 5_000)
    (moving,) = screen(stream.text, 100)
    assert re.fullmatch(r"photos  ━+╸?─+  1,250/5,000 images   0:15 left", moving)
    assert moving.count("━") == 7  # a quarter of 28
    clock.now += 15
    report(5_000, 5_000)
    assert screen(stream.text, 100) == ["photos  5,000 images in 0:20   250 img/s", ""]


def test_images_counted_before_any_time_has_passed():
    progress, stream, clock = make()
    report = progress.count("photos")
    clock.now += 1
    report(0, 5_000)
    assert screen(stream.text, 100)[0].endswith("    0/5,000 images   -:-- left")
    progress, stream, _ = make(terminal=False)
    progress.count("photos")(2, 2)
    assert stream.text == "photos  2 images in 0:00   - img/s\n"


def _raise(error):
    def write(text):
        raise error

    return write


def test_what_is_printed_elsewhere_finds_the_moving_line_erased():
    progress, stream, clock = make()
    show_step(progress, clock)
    progress.clear()
    stream.write("cat.png")
    assert screen(stream.text, 100) == ["cat.png"]
