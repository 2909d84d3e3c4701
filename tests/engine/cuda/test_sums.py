"""One launch adds all partial sums of a step to their gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.run import assert_agrees, run
from tinyvit.engine.cuda.calls.sums import ColumnSum, add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.support.errors import UserError


@settings(max_examples=15)
@given(
    shapes=st.lists(
        st.tuples(st.integers(1, 40), st.integers(1, 70), st.integers(0, 9)), min_size=1, max_size=4
    ),
    seed=st.integers(0, 2**32 - 1),
    accumulate=st.booleans(),
)
def test_each_gradient_grows_by_the_sum_of_its_rows_or_becomes_it(shapes, seed, accumulate):
    rng = np.random.default_rng(seed)
    sums, start, target = [], 1, 2
    for rows, columns, apart in shapes:
        sums.append(ColumnSum(start, rows, columns, target, columns + apart))
        start, target = start + rows * (columns + apart), target + columns + apart
    partials = rng.normal(size=start).astype(np.float32)
    grads = rng.normal(size=target).astype(np.float32)

    expected = grads.astype(np.float64)
    for start, rows, columns, target, stride in sums:
        expected[target : target + columns] *= accumulate
        for row in range(rows):
            expected[target : target + columns] += partials[start + row * stride :][:columns]
    found = launch(sums, partials, grads, accumulate)
    assert_agrees(found, expected)
    between = np.ones(len(grads), bool)
    for s in sums:
        between[s.target : s.target + s.columns] = False
    np.testing.assert_array_equal(found[between], grads[between])  # what is no target stays as it was


def launch(sums, partials, grads, accumulate):
    """The values of grads after add_columns."""
    jobs = column_jobs(sums)
    buffers = (
        Buffer("jobs", jobs.shape, "int32"),
        Buffer("partials", partials.shape),
        Buffer("grads", grads.shape),
    )
    given = {"jobs": jobs, "partials": partials, "grads": grads}
    return run(add_columns(*buffers, sums, accumulate), given)["grads"]


def test_jobs_have_at_most_32_columns_and_keep_the_stride():
    jobs = column_jobs([ColumnSum(start=5, rows=3, columns=70, target=100, stride=210)])
    assert jobs.tolist() == [[5, 3, 32, 100, 210], [37, 3, 32, 132, 210], [69, 3, 6, 164, 210]]
    assert jobs.dtype == np.int32


def test_two_sums_with_one_target_are_refused():
    sums = [ColumnSum(0, 2, 40, 64, 40), ColumnSum(80, 2, 40, 90, 40)]
    with pytest.raises(ValueError, match="same target"):
        column_jobs(sums)
    assert len(column_jobs([sums[0], sums[1]._replace(target=104)])) == 4


def test_more_partial_sums_than_an_int_can_count_ask_for_fewer_images():
    at_the_end = ColumnSum(2**31 - 32, rows=1, columns=32, target=0, stride=32)
    assert column_jobs([at_the_end])[0, 0] == 2**31 - 32
    with pytest.raises(UserError, match=r"partial sums .* give fewer images at a time"):
        column_jobs([at_the_end._replace(columns=33)])


def test_bytes_are_counted_for_the_sums_that_are_taken():
    sums = [ColumnSum(0, rows=5, columns=10, target=0, stride=30)]
    jobs, partials, grads = (
        Buffer("jobs", (1, 5), "int32"),
        Buffer("partials", (150,)),
        Buffer("grads", (1000,)),
    )
    # the job; 5 rows of 10 numbers; 10 gradients read, unless they are new, and written
    assert add_columns(jobs, partials, grads, sums).bytes_moved == 20 + 4 * 50 + 8 * 10
    assert add_columns(jobs, partials, grads, sums, accumulate=False).bytes_moved == 20 + 4 * 50 + 4 * 10
