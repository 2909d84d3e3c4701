import os
import signal
import threading
import time

import pytest

from tinyvit.engine.cpu.threads import Threads


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("pieces", [0, 1, 3, 40])
def test_every_piece_is_done_once_and_results_have_the_order_of_the_pieces(threads, pieces):
    done = []

    def work(piece):
        done.append(piece)
        return piece * piece

    assert Threads(threads).do(work, iter(range(pieces))) == [i * i for i in range(pieces)]
    assert sorted(done) == list(range(pieces))


def test_a_thread_that_is_done_early_takes_the_pieces_of_one_that_is_not():
    others = threading.Event()
    done = []

    def work(piece):
        if piece == 0:
            assert others.wait(60)
        done.append(piece)
        if len(done) == 9:
            others.set()

    Threads(2).do(work, range(10))
    assert sorted(done) == list(range(10)) and done[-1] == 0


@pytest.mark.parametrize(("threads", "failing"), [(1, 0), (2, 0), (2, 1), (2, 2)])
def test_after_an_error_the_other_pieces_are_left(threads, failing):
    done = []

    def work(piece):
        if piece == failing:
            raise ValueError("a piece fails")
        time.sleep(0.001)
        done.append(piece)

    with pytest.raises(ValueError, match="a piece fails"):
        Threads(threads).do(work, range(5000))
    assert len(done) < 1000


def test_when_the_user_interrupts_the_other_pieces_are_left():
    done = []

    def work(piece):
        if piece == 0:
            time.sleep(0.2)  # until the main thread waits for the results
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
        done.append(piece)

    with pytest.raises(KeyboardInterrupt):
        Threads(2).do(work, range(5000))
    assert len(done) < 1000
