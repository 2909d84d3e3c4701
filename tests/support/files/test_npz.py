import io
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import seeds
from tests.weights.checkpoints import complaint
from tinyvit.support.errors import UserError
from tinyvit.support.files.npz import read_npz

ARRAYS = {"a": np.arange(6, dtype="float32").reshape(2, 3), "b/c": np.array(3.5)}


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def npz(*members, compression=zipfile.ZIP_STORED):
    """The bytes of an archive of (name, content) pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def with_header(text, body=b""):
    """A member whose header says this."""
    text = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def read(folder, content):
    path = folder / "file.npz"
    path.write_bytes(content)
    return read_npz(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("npz")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read(tmp_path, save):
    arrays = ARRAYS | {
        "fortran": np.asfortranarray(ARRAYS["a"]),
        "empty": np.zeros((0, 3)),
        "big": np.arange(9.0, dtype=">f8"),
    }
    save(tmp_path / "file.npz", **arrays)
    found = read_npz(tmp_path / "file.npz")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


@given(seed=seeds())
def test_bfloat16_without_a_type_is_widened_exactly(folder, seed):
    halves = np.random.default_rng(seed).integers(0, 2**16, (2, 3), dtype="uint16")
    found = read(folder, npz(("x.npy", npy(halves.view("V2")))))["x"]
    np.testing.assert_array_equal(found.view(np.uint32), halves.astype(np.uint32) << 16, strict=True)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_duplicate_name(tmp_path):
    content = npz(("a.npy", npy(ARRAYS["a"])), ("a.npy", npy(ARRAYS["a"])))
    assert "'a' is in it twice" in complaint(read, tmp_path, content)
    content = npz(("a.npy", npy(ARRAYS["a"])), ("a", npy(ARRAYS["a"])))
    assert "'a' is in it twice" in complaint(read, tmp_path, content)


class Bomb:
    """Pickled, this would run code on being loaded."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


GOOD = npz(*((f"{name}.npy", npy(array)) for name, array in ARRAYS.items()))
OBJECT = with_header("{'descr': '|O', 'fortran_order': False, 'shape': ()}", pickle.dumps(Bomb()))
HUGE = with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", bytes(4))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a zip file"),
        (b"\x93NUMPY" + bytes(200), "not a zip file"),
        (pickle.dumps(Bomb()), "not a zip file"),
        (GOOD[:-30], "not a zip file"),
        (npz(("a.npy", b"text")), "magic"),
        (npz(("a.npy", npy(ARRAYS["a"])[:-1])), "of shape (2, 3) and dtype float32 needs 24 bytes, has 23"),
        (npz(("a.npy", npy(ARRAYS["a"]) + b"x")), "needs 24 bytes, has 25"),
        (npz(("a.npy", HUGE)), "needs 4,000,000,000,000 bytes, has 4"),
        (npz(("a.npy", with_header("{'descr': '<f99', 'fortran_order': False, 'shape': (1,)}"))), "descr"),
        (npz(("a.npy", with_header("no header at all"))), "header"),
        (npz(("a.npy", b"\x93NUMPY\x09\x00" + bytes(99))), "version (9, 0)"),
        (npz(("a.npy", OBJECT)), "'a.npy' contains pickled Python objects"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_clear_line(tmp_path, content, why):
    message = complaint(read, tmp_path, content)
    assert "file.npz is not a usable .npz file: " in message
    assert why in message
    assert message.endswith(". Delete it and download it, or train it, again.")


def test_little_of_what_a_damaged_file_contains_is_quoted(tmp_path):
    message = complaint(read, tmp_path, npz(("a.npy", with_header("a secret word, " * 200))))
    assert "header" in message and 1 < message.count("secret") < 20
    assert message.endswith("... Delete it and download it, or train it, again.")


def test_pickled_arrays_as_numpy_writes_them_are_never_loaded(tmp_path):
    np.savez(tmp_path / "file.npz", x=np.array([Bomb()], dtype=object))
    assert "'x.npy' contains pickled Python objects" in complaint(read_npz, tmp_path / "file.npz")


def read_or_complain(folder, content):
    """Whatever the bytes are, arrays come of them or one line: never another exception."""
    try:
        arrays = read(folder, content)
    except UserError as error:
        assert str(error).isprintable()
    else:
        assert all(isinstance(array, np.ndarray) for array in arrays.values())


@given(cut=st.integers(0, 10_000))
def test_a_file_cut_anywhere_is_a_users_error(folder, cut):
    assert complaint(read, folder, GOOD[: cut % len(GOOD)])


@pytest.mark.filterwarnings("ignore")
@given(
    changes=st.dictionaries(st.integers(0, 10_000), st.integers(0, 255), min_size=1, max_size=4),
    compression=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
def test_bytes_that_flipped_do_not_crash_the_reader(folder, changes, compression):
    members = [(f"{name}.npy", npy(array)) for name, array in ARRAYS.items()]
    content = bytearray(npz(*members, compression=compression))
    for place, value in changes.items():
        content[place % len(content)] = value
    read_or_complain(folder, bytes(content))


@pytest.mark.filterwarnings("ignore")
@given(changes=st.dictionaries(st.integers(0, 127), st.integers(0, 255), min_size=1, max_size=4))
def test_a_header_with_other_bytes_does_not_crash_the_reader(folder, changes):
    content = bytearray(npy(ARRAYS["a"]))
    for place, value in changes.items():
        content[place] = value
    read_or_complain(folder, npz(("a.npy", bytes(content))))


@pytest.mark.filterwarnings("ignore")
@given(
    descr=st.sampled_from(["<f4", "|O", "V2", "<U3", "|V0", "<M8[s]", "f4, O"]),
    shape=st.lists(st.integers(-2, 2**70), max_size=40),
)
def test_any_shape_in_the_header_does_not_crash_the_reader(folder, descr, shape):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {tuple(shape)}}}"
    read_or_complain(folder, npz(("a.npy", with_header(text, bytes(8)))))


def test_arrays_that_vanish_from_a_damaged_directory_are_missed(tmp_path):
    """A comment that swallows the entry of the last array: zipfile alone would list only the first."""
    content = bytearray(GOOD)
    first = content.index(b"PK\x01\x02")
    second = content.index(b"PK\x01\x02", first + 4)
    end = content.index(b"PK\x05\x06")
    content[first + 32 : first + 34] = (end - second).to_bytes(2, "little")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == ["a.npy"]
    assert "contains 1 arrays, and states that it has 2" in complaint(read, tmp_path, bytes(content))


def test_more_arrays_than_any_model_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.support.files.npz.MOST_ARRAYS", 2)
    assert read(tmp_path, GOOD).keys() == ARRAYS.keys()
    content = npz(*((f"{i}.npy", npy(ARRAYS["a"])) for i in range(3)))
    assert "contains 3 arrays, expected no more than 2" in complaint(read, tmp_path, content)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    bomb = npz(("a.npy", npy(np.zeros(15_000_000))), compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    assert "its arrays have 120,000,128 bytes, expected no more than" in complaint(read, tmp_path, bomb)


def test_a_member_that_unpacks_to_more_than_it_states_is_refused(tmp_path):
    bomb = bytearray(npz(("a.npy", npy(np.zeros(3_000_000))), compression=zipfile.ZIP_DEFLATED))
    for size_at in (22, bomb.index(b"PK\x01\x02") + 24):  # the unpacked size, in both places
        bomb[size_at : size_at + 4] = (128).to_bytes(4, "little")
    tracemalloc.start()
    try:
        assert "a.npy" in complaint(read, tmp_path, bytes(bomb))
        assert tracemalloc.get_traced_memory()[1] < 2_000_000  # of the 24 million that it unpacks to
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "array", [np.ones(2, "c8"), np.ones(2, "m8[s]"), np.ones(2, "M8[s]"), np.ones(2, "S3")]
)
def test_what_are_no_numbers_are_refused(tmp_path, array):
    assert "expected numbers" in complaint(read, tmp_path, npz(("a.npy", npy(array))))


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_that_numpy_never_uses_is_refused(tmp_path, compression):
    content = npz(("a.npy", npy(ARRAYS["a"])), compression=compression)
    assert "compressed in a way" in complaint(read, tmp_path, content)
