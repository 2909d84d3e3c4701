import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import layouts, seeds
from tests.weights.checkpoints import complaint
from tinyvit.support.errors import UserError
from tinyvit.weights.safetensors import read_safetensors, write_safetensors

NUMBERS = {
    "a": np.arange(6, dtype="float32").reshape(2, 3),
    "b.weight": np.array([1.5, -2.5], dtype="float16"),
    "empty": np.zeros((0, 4), dtype="float64"),
    "scalar": np.array(7.25),
}


def file_with(header, body=b"", length=None):
    """The bytes of a file with this header, text or what JSON is made of."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def read(folder, content):
    path = folder / "file.safetensors"
    path.write_bytes(content)
    return read_safetensors(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("safetensors")


@pytest.fixture(scope="module")
def good(folder):
    write_safetensors(folder / "good.safetensors", NUMBERS, {"format": "pt"})
    return (folder / "good.safetensors").read_bytes()


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    dtype=st.sampled_from(["float16", "float32", "float64"]),
    layout=layouts(),
    seed=seeds(),
)
def test_what_is_written_is_read_back_to_the_bit(folder, shape, dtype, layout, seed):
    array = np.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)
    write_safetensors(folder / "one.safetensors", {"x": layout(array), "y": array})
    arrays = read_safetensors(folder / "one.safetensors")
    for name in ("x", "y"):
        np.testing.assert_array_equal(arrays[name], array, strict=True)


@pytest.mark.parametrize(("dtype", "read_as"), [(">f4", "<f4"), (">f8", "<f8"), ("longdouble", "<f8")])
def test_other_floating_point_numbers_are_written_as_those_of_the_format(folder, dtype, read_as):
    for array in (np.array([[1.5, -2.25]], dtype), np.array(3.5, dtype)):
        write_safetensors(folder / "one.safetensors", {"x": array})
        found = read_safetensors(folder / "one.safetensors")["x"]
        np.testing.assert_array_equal(found, array.astype(read_as), strict=True)


def test_arrays_of_several_dtypes_share_a_file(folder, good):
    arrays = read(folder, good)
    assert list(arrays) == list(NUMBERS)
    for name, array in NUMBERS.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)


def test_the_numbers_start_at_a_multiple_of_eight_bytes(folder):
    for length in range(1, 9):
        write_safetensors(folder / "one.safetensors", {"x" * length: np.zeros(1)})
        assert int.from_bytes((folder / "one.safetensors").read_bytes()[:8], "little") % 8 == 0, length


@given(seed=seeds())
def test_bfloat16_is_widened_exactly(folder, seed):
    halves = np.random.default_rng(seed).integers(0, 2**16, 2, dtype="uint16")
    array = read(folder, file_with({"x": entry("BF16", (2,), (0, 4))}, halves.astype("<u2").tobytes()))["x"]
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array.view(np.uint32), halves.astype(np.uint32) << 16)


def test_bfloat16_has_the_values_of_its_definition(folder):
    patterns = np.array([0x3F80, 0xC040, 0x7F80, 0x0001], "<u2")  # 1, -3, infinity, the smallest
    array = read(folder, file_with({"x": entry("BF16", (4,), (0, 8))}, patterns.tobytes()))["x"]
    assert array.tolist() == [1.0, -3.0, float("inf"), 2.0**-133]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it has 0 bytes"),
        (b"\x05\x00\x00", "it has 3 bytes"),
        (b"PK\x03\x04 this is a zip archive" * 9, "its header claims"),
        (file_with({}, length=100), "its header claims 100 bytes, but 2 follow"),
        (file_with({}, length=2**63), "its header claims 9,223,372,036,854,775,808 bytes"),
        (file_with(b" " * 9_000_000), "its header has 9,000,000 bytes, expected no more than 8,000,000"),
        (file_with(b"\x80\x81\x82"), "its header is unreadable"),
        (file_with(b'{"x": '), "its header is unreadable"),
        (file_with(b"[" * 200_000), "its header is unreadable"),
        (file_with("{}".encode("utf-16")), "its header is unreadable"),
        (file_with([1, 2]), "its header is not a JSON object"),
        (file_with(b'{"x": 1, "x": 2}'), "'x' is in it twice"),
        (file_with({"x": entry("F8_E4M3")}, bytes(8)), "'x' has the unknown dtype 'F8_E4M3'"),
        (file_with({"x": entry(["F32"])}, bytes(8)), "'x' has the unknown dtype"),
        (file_with({"x": entry()}, bytes(7)), "'x' ends at byte 8, but there are 7: the file is truncated"),
        (file_with({"x": entry()}, bytes(9)), "1 bytes at its end belong to no array"),
        (file_with({"x": entry(shape=(3,))}, bytes(8)), "of shape (3,) and dtype F32 needs 12 bytes, has 8"),
        (file_with({"x": entry(shape=(10**30,))}, bytes(8)), "needs 4,000"),
        (file_with({"x": entry(shape=(0, 10**30), offsets=(0, 0))}), "'x'"),
        (file_with({"x": entry(shape=(-1, -2))}, bytes(8)), "the description of 'x'"),
        (file_with({"x": entry(shape=(2.0,))}, bytes(8)), "the description of 'x'"),
        (file_with({"x": entry(offsets=(8, 0))}, bytes(8)), "needs 8 bytes, has -8"),
        (file_with({"x": entry(offsets=(0,))}, bytes(8)), "the description of 'x'"),
        (file_with({"x": 3}), "the description of 'x'"),
        (file_with({"x": entry(), "y": entry(offsets=(4, 12))}, bytes(12)), "leave a gap at byte 8"),
        (file_with({"x": entry(), "y": entry(offsets=(9, 17))}, bytes(17)), "leave a gap at byte 8"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_clear_line(tmp_path, content, why):
    message = complaint(read, tmp_path, content)
    assert "file.safetensors is not a usable safetensors file: " in message
    assert why in message


def read_or_complain(folder, content):
    """Whatever the bytes are, arrays come of them or one line: never another exception."""
    try:
        arrays = read(folder, content)
    except UserError as error:
        assert str(error).isprintable()
    else:
        assert all(isinstance(array, np.ndarray) for array in arrays.values())


@given(cut=st.integers(0, 1000))
def test_a_file_cut_anywhere_is_a_users_error(folder, good, cut):
    assert complaint(read, folder, good[: cut % len(good)])


@given(changes=st.dictionaries(st.integers(0, 1000), st.integers(0, 255), min_size=1, max_size=4))
def test_bytes_that_flipped_do_not_crash_the_reader(folder, good, changes):
    content = bytearray(good)
    for place, value in changes.items():
        content[place % len(content)] = value
    read_or_complain(folder, bytes(content))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("F32"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    name=st.sampled_from([*NUMBERS, "__metadata__", "new", "a\nb", "\ud800"]),
    field=st.sampled_from([None, "dtype", "shape", "data_offsets", "other"]),
    value=json_values,
)
def test_any_json_in_any_place_of_the_header_does_not_crash_the_reader(folder, good, name, field, value):
    length = int.from_bytes(good[:8], "little")
    header = json.loads(good[8 : 8 + length])
    if field is None or not isinstance(header.get(name), dict):
        header[name] = value
    else:
        header[name][field] = value
    read_or_complain(folder, file_with(header, good[8 + length :]))


@given(shape=st.lists(st.integers(0, 2**70), max_size=40), size=st.integers(0, 64))
def test_any_shape_in_the_header_does_not_crash_the_reader(folder, shape, size):
    read_or_complain(folder, file_with({"x": entry("U8", shape, (0, size))}, bytes(size)))


def test_a_full_disk_or_a_missing_folder_is_a_users_error(tmp_path):
    assert "cannot write" in complaint(write_safetensors, tmp_path / "nowhere" / "x.safetensors", NUMBERS)
