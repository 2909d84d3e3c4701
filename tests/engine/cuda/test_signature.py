"""Launches from the signatures of kernels."""

import numpy as np
import pytest

from tinyvit.engine.cuda.calls.signature import launch
from tinyvit.engine.cuda.launch import Buffer

LOSSES, LOSS = Buffer("losses", (3,)), Buffer("loss", (1,))


def test_what_is_read_and_written_follows_from_const():
    found = launch("add_losses", 1, (LOSSES, LOSS, 3, True))
    assert (found.file, found.grid, found.block) == ("loss", (1,), (256,))
    assert (found.reads, found.writes) == ((LOSSES,), (LOSS,))
    assert [type(number) for number in found.args[2:]] == [np.int32, np.int32]
    both = launch("add_losses", 1, (LOSSES, LOSS, 3, True), in_place=(LOSS,))
    assert both.reads == (LOSSES, LOSS)


def test_an_argument_too_few_is_noticed_before_there_is_a_gpu():
    with pytest.raises(ValueError, match="shorter"):
        launch("add_losses", 1, (LOSSES, LOSS, 3))
    with pytest.raises(ValueError, match="no kernel nonsense"):
        launch("nonsense<float>", 1, ())
