"""A sealed file notices every byte that changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.weights.checkpoints import complaint
from tinyvit.support.errors import UserError
from tinyvit.support.files.npz import SEALED, add_seal, read_npz


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    path = tmp_path_factory.mktemp("seal") / "a.npz"
    with open(path, "x+b") as file:
        np.savez(file, a=np.arange(5.0), **{SEALED: np.array("sha256")})
        add_seal(file)
    return path


def test_numpy_and_tinyvit_read_a_sealed_file(sealed):
    with np.load(sealed) as file:
        np.testing.assert_array_equal(file["a"], np.arange(5.0))
    np.testing.assert_array_equal(read_npz(sealed)["a"], np.arange(5.0))


def test_any_byte_that_changes_is_noticed(sealed, tmp_path):
    """Every byte of the file in turn, the names, dates and flags of the zip and the seal itself included."""
    whole, changed = sealed.read_bytes(), tmp_path / "b.npz"
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        changed.write_bytes(damaged)
        with pytest.raises(UserError, match=r"b\.npz is not a usable"):
            read_npz(changed)


@given(cut=st.integers(1, 10_000))
def test_a_file_cut_anywhere_is_noticed(sealed, cut):
    whole = sealed.read_bytes()
    short = sealed.with_name("short.npz")
    short.write_bytes(whole[: cut % len(whole)])
    assert "short.npz" in complaint(read_npz, short)
    short.write_bytes(whole + bytes(cut))
    assert "short.npz" in complaint(read_npz, short)
