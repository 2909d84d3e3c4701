"""The requests of ranks to each other, over MPI: sums, parts, rows, and errors that all of them hear of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.distributed.fake_mpi import errors_of, together
from tinyvit.support.distributed import ALONE, mpi, parts
from tinyvit.support.errors import UserError
from tinyvit.training.run_folder import RunFolder

SIZES = pytest.mark.parametrize("size", [2, 3, 4])


def numbers(rank, count=11, dtype="float32"):
    return np.random.default_rng(rank).integers(-50, 50, count).astype(dtype)


@given(count=st.integers(0, 50), size=st.integers(1, 9))
def test_parts_are_those_of_array_split(count, size):
    things = np.arange(count)
    for cut, expected in zip(parts(count, size), np.array_split(things, size), strict=True):
        np.testing.assert_array_equal(things[cut], expected)


@SIZES
@pytest.mark.parametrize("count", [1, 3, 11])
def test_all_reduce_is_the_sum_over_ranks_in_place(size, count):
    def work(ranks):
        flat = numbers(ranks.rank, count)
        ranks.all_reduce(flat)
        return flat

    expected = sum(numbers(rank, count) for rank in range(size))
    for found in together(size, work):
        np.testing.assert_array_equal(found, expected)


@SIZES
def test_a_number_is_summed_and_keeps_its_dtype_and_that_of_the_caller(size):
    def work(ranks):
        number = np.float32(ranks.rank + 1)
        return ranks.sum(number), number

    for rank, (total, own) in enumerate(together(size, work)):
        assert total == size * (size + 1) / 2 and total.dtype == np.float32 and total.shape == ()
        assert own == rank + 1


@SIZES
def test_the_largest_number_and_the_rows_of_all(size):
    def work(ranks):
        return ranks.max(ranks.rank), ranks.gather_rows(np.full((ranks.rank, 2), ranks.rank))

    for largest, rows in together(size, work):
        assert largest == size - 1
        np.testing.assert_array_equal(rows[:, 0], np.repeat(np.arange(size), np.arange(size)))


def test_only_the_first_rank_is_asked_and_all_know(tmp_path):
    def work(ranks):
        return ranks.first(lambda: {"by": ranks.rank})

    assert together(3, work) == [{"by": 0}] * 3


def test_what_the_first_rank_made_stays_its_own_there():
    made = RunFolder("x")
    found = together(2, lambda ranks: ranks.first(lambda: made))
    assert found[0] is made and found[1] is not made and found[1].path == made.path


def test_an_error_of_the_first_rank_is_raised_by_all():
    def fail():
        raise UserError("no such folder")

    assert errors_of(3, lambda ranks: ranks.first(fail)) == ["no such folder"] * 3


def test_one_rank_of_each_machine_goes_first():
    called = []

    def work(ranks):
        return ranks.one_per_machine_first(lambda: called.append(ranks.rank) or ranks.rank)

    assert together(4, work, ["a", "a", "b", "b"]) == [0, 1, 2, 3]
    assert sorted(called[:2]) == [0, 2] and sorted(called[2:]) == [1, 3]


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_an_error_of_any_rank_is_raised_by_all_and_names_it(failing):
    def work(ranks):
        def load():
            if ranks.rank == failing:
                raise OSError(2, "No such file", "data/x")

        ranks.one_per_machine_first(load)

    found = errors_of(4, work, ["a", "a", "b", "b"])
    assert len(set(found)) == 1 and "No such file" in found[0]
    assert (f"rank {failing} on " in found[0]) == (failing > 0)


def test_a_difference_between_ranks_is_an_error_of_all():
    found = errors_of(3, lambda ranks: ranks.check_same(ranks.rank == 2, "the labels"))
    assert len(set(found)) == 1
    assert found[0].startswith("rank 2 on ") and "the labels are not those of rank 0" in found[0]
    assert errors_of(3, lambda ranks: ranks.check_same("x", "the labels")) == [None] * 3


def test_whether_all_have_failed(monkeypatch):
    monkeypatch.setattr(mpi, "_FAILING_SECONDS", 60)  # on a busy machine, a thread may be late
    assert together(3, lambda ranks: ranks.all_failed()) == [True] * 3
    monkeypatch.setattr(mpi, "_FAILING_SECONDS", 0.2)
    assert together(3, lambda ranks: ranks.rank == 1 and ranks.all_failed()) == [False] * 3


def test_ranks_know_their_machine():
    def work(ranks):
        return ranks.local_rank, len(ranks.neighbours), ranks.is_first

    found = together(3, work, ["a", "b", "b"])
    assert found == [(0, 1, True), (0, 2, False), (1, 2, False)]


def test_one_process_alone_gets_back_what_it_has():
    flat = numbers(0)
    ALONE.all_reduce(flat)
    np.testing.assert_array_equal(flat, numbers(0))
    assert ALONE.part(7) == slice(0, 7)
    assert ALONE.first(lambda: 3) == ALONE.one_per_machine_first(lambda: 3) == 3
    assert ALONE.max(3) == ALONE.sum(3) == 3
