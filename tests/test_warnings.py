"""Warnings that are ignored for a while are shown again afterwards, whoever else ignored some meanwhile."""

import warnings

import pytest

from tinyvit.support.errors import without_warnings


def test_what_is_ignored_is_that_category_from_that_module():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with without_warnings(RuntimeWarning), without_warnings(module="elsewhere"):
            with without_warnings():
                warnings.warn("ignored", UserWarning, stacklevel=1)
            warnings.warn("ignored", RuntimeWarning, stacklevel=1)
            warnings.warn("of another category", UserWarning, stacklevel=1)
        warnings.warn("afterwards", RuntimeWarning, stacklevel=1)
    assert [str(one.message) for one in shown] == ["of another category", "afterwards"]


@pytest.mark.parametrize("first_to_leave", [0, 1])
def test_contexts_that_overlap_leave_the_filters_as_they_were(first_to_leave):
    before = list(warnings.filters)
    one, other = without_warnings(RuntimeWarning), without_warnings(DeprecationWarning)
    one.__enter__()
    other.__enter__()
    for context in (one, other) if first_to_leave == 0 else (other, one):
        context.__exit__(None, None, None)
    assert list(warnings.filters) == before


def test_an_error_within_leaves_the_filters_as_they_were():
    before = list(warnings.filters)
    with pytest.raises(KeyError), without_warnings():
        raise KeyError
    assert list(warnings.filters) == before
