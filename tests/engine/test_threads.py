import os
import signal
import threading
import time

import pytest

from tinyvit.engine import blas
from tinyvit.engine.cpu.engine import Threads


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
    done, told = [], threading.Event()

    def interrupted(number, frame):
        told.set()
        raise KeyboardInterrupt

    def work(piece):
        if piece == 0:
            os.kill(os.getpid(), signal.SIGINT)
        assert told.wait(60)
        time.sleep(0.001)
        done.append(piece)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            Threads(2).do(work, range(5000))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(done) < 5000


@pytest.mark.parametrize("startable", [0, 1, 2])
def test_where_no_more_threads_can_be_started_fewer_do_the_work(monkeypatch, startable):
    started, start = [], threading.Thread.start

    def limited(thread):
        if len(started) == startable:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    threads = Threads(3)
    assert threads.do(lambda piece: -piece, range(50)) == [-i for i in range(50)]
    with threads.at_work(lambda piece: 2 * piece, range(3)) as working:
        assert [each.result() for each in working] == [0, 2, 4]
    with pytest.raises(ZeroDivisionError):
        threads.do(lambda piece: 1 / piece, range(50))
    assert len(started) <= startable


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_computes_has_threads_of_its_own():
    threads, go, busy = Threads(2), threading.Event(), threading.Event()

    def work(piece):
        busy.set()
        assert go.wait(60)

    other = threading.Thread(target=threads.do, args=(work, range(4)))
    other.start()
    assert busy.wait(60)
    with blas._lock:  # as if the other thread were choosing the number of BLAS threads
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if threads.do(lambda piece: piece + 1, range(9)) == list(range(1, 10)) else 1)
    _, status = os.waitpid(child, 0)
    go.set()
    other.join()
    assert status == 0
