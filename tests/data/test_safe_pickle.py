import os
import pickle

import numpy as np
import pytest

from tinyvit.data import safe_pickle
from tinyvit.data.safe_pickle import load_pickle
from tinyvit.support.errors import UserError


def python_2_pickle(shape, raw, module=b"numpy.core.multiarray", code=b"u1"):
    """{'data': array} as Python 2 wrote the official batches, in protocol 2, byte for byte."""

    def text(value):
        return b"U" + bytes([len(value)]) + value

    def number(value):
        return b"J" + value.to_bytes(4, "little", signed=True)

    sizes = b"(" + b"".join(number(size) for size in shape) + b"t"
    dtype = (
        b"cnumpy\ndtype\n"
        + text(code)
        + b"K\x00K\x01\x87R(K\x03"
        + text(b"|")
        + b"NNN"
        + 2 * number(-1)
        + b"K\x00tb"
    )
    empty = b"c" + module + b"\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    return b"\x80\x02}" + text(b"data") + empty + b"(K\x01" + sizes + dtype + b"\x89" + text(raw) + b"tbs."


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("module", [b"numpy.core.multiarray", b"numpy._core.multiarray"])
def test_arrays_written_by_python_2_and_either_numpy_are_read(tmp_path, module):
    file = write(tmp_path / "batch", python_2_pickle((2, 3), b"\x00\x01\x02\xfd\xfe\xff", module))
    np.testing.assert_array_equal(
        load_pickle(file)[b"data"], np.array([[0, 1, 2], [253, 254, 255]], np.uint8)
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_written_by_this_python_comes_back(tmp_path, order):
    array = np.asarray(np.arange(12, dtype=np.uint8).reshape(3, 4), order=order)
    file = write(tmp_path / "batch", pickle.dumps({b"data": array, b"labels": [3, 1]}, protocol=4))
    batch = load_pickle(file)
    np.testing.assert_array_equal(batch[b"data"], array)
    assert batch[b"labels"] == [3, 1]


def test_a_pickle_that_runs_a_command_is_refused_and_not_run(tmp_path):
    trace = tmp_path / "trace"

    class Payload:
        def __reduce__(self):
            return os.system, (f"touch {trace}",)

    file = write(tmp_path / "batch", pickle.dumps({b"data": Payload()}))
    with pytest.raises(UserError, match=rf"batch asks to load {os.system.__module__}.system"):
        load_pickle(file)
    assert not trace.exists()


@pytest.mark.parametrize("name", [b"builtins\neval", b"numpy\nload", b"numpy.core.multiarray\nscalar"])
def test_every_name_but_the_three_is_refused(tmp_path, name):
    file = write(tmp_path / "batch", b"\x80\x02}U\x04datac" + name + b"\ns.")
    with pytest.raises(UserError, match=name.decode().replace("\n", ".")):
        load_pickle(file)


def test_an_array_of_objects_is_refused(tmp_path):
    file = write(tmp_path / "batch", pickle.dumps({b"data": np.array([{}, []], dtype=object)}, protocol=4))
    with pytest.raises(UserError, match="expected uint8"):
        load_pickle(file)


def test_an_array_longer_than_its_content_is_refused(tmp_path):
    file = write(tmp_path / "batch", python_2_pickle((2, 3000), b"\x00\x01\x02\xfd\xfe\xff"))
    with pytest.raises(UserError, match="truncated or damaged"):
        load_pickle(file)


def test_a_pickle_cut_short_at_any_byte_says_so(tmp_path):
    content = python_2_pickle((2, 3), b"\x00\x01\x02\xfd\xfe\xff")
    for length in range(len(content)):
        file = write(tmp_path / "batch", content[:length])
        with pytest.raises(UserError, match="truncated or damaged"):
            load_pickle(file)


PAIRS = b"\x80\x02}K\x01" + b"2\x86" * 60 + b"K\x01s."  # DUP and TUPLE2: a pair of pairs of pairs, as a key
MEMOIZED_PAIRS = b"\x80\x02}K\x01" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(60)) + b"K\x01s."


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02}r\xff\xff\xff\x7f.",  # a memo of two thousand million entries: fine, if it is no list
        b"\x80\x02B\xff\xff\xff\x7fabc.",
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.",
        b"\x80\x05\x96\xff\xff\xff\xff\x07\x00\x00\x00abc.",  # a bytearray of 34 GB
        b"\x80\x04\x95\xff\xff\xff\xff\x07\x00\x00\x00}.",  # a frame of 34 GB
        b"\x80\x02cnumpy\nndarray\n}U\x01aK\x01sb}.",  # the state of a class
        PAIRS,
        MEMOIZED_PAIRS,
        b"\x80\x02}U\x01a" + MEMOIZED_PAIRS[4:-4] + b"\x93.",  # as the name of a function
        b"\x80\x02" + b"(" * 100 + b".",
        b"\x80\x02}(K\x01K\x02K\x03u.",
        b"\x80\x02K\x01K\x02a.",
        b"\x80\x02K\x01)R.",
        b"\x80\x02}}b.",
        b"",
    ],
)
def test_a_few_bytes_take_neither_gigabytes_nor_hours(tmp_path, content):
    file = write(tmp_path / "batch", content)
    try:
        assert load_pickle(file) == {}
    except UserError as error:
        assert "batch" in str(error)


def test_a_pickle_of_endless_instructions_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(safe_pickle, "MOST_INSTRUCTIONS", 100)
    file = write(tmp_path / "batch", pickle.dumps({b"labels": list(range(200))}, protocol=4))
    with pytest.raises(UserError, match="more instructions than a CIFAR batch has"):
        load_pickle(file)
