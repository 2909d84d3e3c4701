"""Damage that leaves a file's outer form intact, so that it is found out further inside."""

import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

from tests.fuzz.mutate import damaged

_ODD = [
    None, True, -1, 0, 1, 2, 3, 0.5, 1e308, float("nan"), float("inf"), 2**31, 2**63, 2**70, 10**400,
    10**4000, "", "a", "\x1b[2J", "\u202e", "\ud800", "é" * 5000, "1d", "token", "exact", "gelu", [], {},
    [[]], [1, 2], ["a"], {"a": 1}, {"0": None}, [10**9, 10**9], [8, 8], [0.5] * 3, [0, 0, 0], [1e-320] * 3,
]  # fmt: skip
_HEADERS = (b"'descr'", b"'<f4'", b"'<f2'", b"'|O'", b"'<U9'", b"'V2'", b"'<c8'", b"'<m8[s]'", b"'|b1'")
_HEADERS += (
    b"'shape'",
    b"(",
    b")",
    b",",
    b"0",
    b"1",
    b"9999999999999999",
    b"-1",
    b"True",
    b"{",
    b"}",
    b"[",
    b"L",
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # the last is always refused
_WORDS = [
    b"cos\nsystem\n",
    b"cnumpy\nndarray\n",
    b"cnumpy\ndtype\n",
    b"cnumpy.core.multiarray\n_reconstruct\n",
]
_WORDS += [b"K\x05", b"U\x02u1", b"B\xff\xff\xff\x7f", b"r\xff\xff\xff\x0f", b"\x8a\xff" + b"\x7f" * 255]


def damaged_json(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A JSON file in which some values are odd."""
    if rng.random() < 0.2:
        return damaged(rng, content, others)
    try:
        tree = json.loads(content)
        for _ in range(rng.choice((1, 1, 2, 4))):
            tree = _changed(rng, tree)
    except (ValueError, RecursionError):
        return damaged(rng, content, others)
    return _dumped(tree)


def damaged_lines(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A file of JSON lines, some of which are odd."""
    lines = content.split(b"\n")
    i = rng.randrange(len(lines))
    lines[i] = damaged_json(rng, lines[i], others)
    return b"\n".join(lines)


def damaged_safetensors(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A safetensors file with an odd header."""
    if rng.random() < 0.4:
        return damaged(rng, content, others)
    length = int.from_bytes(content[:8], "little")
    header = damaged_json(rng, content[8 : 8 + length], others)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def damaged_zip(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """An archive whose members are damaged, renamed, doubled or compressed, with correct checksums."""
    if rng.random() < 0.3:
        return damaged(rng, content, others)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    i = rng.randrange(len(members))
    name, data = members[i]
    kind = rng.randrange(6)
    if kind == 0:
        members.insert(rng.randrange(len(members) + 1), (rng.choice((name, name[:-4], "x\x1b[2J", "")), data))
    elif kind == 1:
        del members[i]
    elif kind == 2:
        members[i] = (name, members[rng.randrange(len(members))][1])
    elif kind == 3:
        words = bytearray(data)
        place = rng.randrange(8, min(len(data), 128))
        words[place : place + rng.choice((0, 1, 5))] = rng.choice(_HEADERS)
        members[i] = (name, bytes(words))
    elif kind == 4 and name in ("config.npy", "progress.npy", "classes.npy"):
        members[i] = (name, _text_array(damaged_json(rng, _text_of(data), others)))
    else:
        members[i] = (name, damaged(rng, data, others))
    buffer, how = io.BytesIO(), rng.choices(_METHODS, (60, 38, 2))[0]
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", how) as archive:
        warnings.simplefilter("ignore")  # about doubled names
        for name, data in members:
            archive.writestr(name or "0", data)
    return buffer.getvalue() if rng.random() < 0.8 else damaged(rng, buffer.getvalue(), others)


def damaged_tar(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A compressed archive whose headers are damaged, most with correct checksums."""
    if rng.random() < 0.2:
        return damaged(rng, content, others)
    tar = bytearray(damaged(rng, gzip.decompress(content), [gzip.decompress(other) for other in others]))
    for start in range(0, len(tar) - 512, 512):
        if rng.random() < 0.1:
            tar[start + 156] = rng.choice(b"0123456LKxgSDVN")  # the kind of member
        if tar[start + 257 : start + 262] == b"ustar" and rng.random() < 0.9:
            tar[start + 148 : start + 156] = b" " * 8
            tar[start + 148 : start + 156] = b"%06o\0 " % sum(tar[start : start + 512])
    return gzip.compress(bytes(tar), 1)


def damaged_pickle(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A pickle with other instructions near its beginning or its end, or of nothing but random ones."""
    kind = rng.random()
    if kind < 0.3:
        return damaged(rng, content, others)
    words = [
        rng.choice(_WORDS) if rng.random() < 0.2 else rng.choice(_CODES) for _ in range(rng.randrange(40))
    ]
    if kind < 0.5:
        return b"\x80\x02" + b"".join(words) + b"."
    place = rng.choice((rng.randrange(min(len(content), 200)), len(content) - rng.randrange(200)))
    return content[:place] + b"".join(words[:5]) + content[place + rng.choice((0, 1, 2)) :]


_CODES = [bytes([code]) for code in b"(.012NIKMLGcbRtq\x85\x86\x87}]{asu)e\x88\x89\x94\x93\x8c\x95PQi\x81Xjh"]


def _changed(rng: random.Random, tree: Any) -> Any:
    """The same tree with one value replaced, removed, doubled under a new name, or wrapped."""
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        key = rng.choice(list(tree))
        kind = rng.random()
        if kind < 0.1:
            return {name: value for name, value in tree.items() if name != key}
        if kind < 0.2:
            return tree | {rng.choice(("", "x", "__metadata__", "\x1b[1m", "a" * 9000)): tree[key]}
        return tree | {key: _changed(rng, tree[key])}
    if isinstance(tree, list) and tree and rng.random() < 0.85:
        i = rng.randrange(len(tree))
        return [*tree[:i], _changed(rng, tree[i]), *tree[i + 1 :]]
    if rng.random() < 0.05:
        for _ in range(rng.choice((5, 200, 2000))):
            tree = [tree]
        return tree
    return rng.choice(_ODD)


def _dumped(tree: Any) -> bytes:
    """JSON, however deep a tree is, and however long its numbers are."""
    try:
        return json.dumps(tree).encode()
    except (RecursionError, ValueError):
        return b"[" * 5000 + b"1" * 5000 + b"]" * 5000


def _text_of(member: bytes) -> bytes:
    return member[128:].decode("utf-32-le", "replace").encode("utf-8", "replace")


def _text_array(text: bytes) -> bytes:
    """A .npy file of a text."""
    letters = text.decode("utf-8", "replace")
    header = f"{{'descr': '<U{len(letters)}', 'fortran_order': False, 'shape': (), }}"
    header = header.encode().ljust(117) + b"\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    return start + letters.encode("utf-32-le", "surrogatepass")
