"""The stand-in for CuPy refuses what CuPy refuses: otherwise tests on it would prove nothing."""

import numpy as np
import pytest

from tests.stand_in import DeviceArray, StandIn, cupy

there, here = StandIn().asarray([1.0, 2.0]), np.ones(2)


@pytest.mark.parametrize(
    "mix",
    [
        lambda: there + here,
        lambda: here * there,
        lambda: there @ here,
        lambda: there[np.array([0])],
        lambda: there.__setitem__(0, here[:1]),
        lambda: there.__iadd__(here),
        lambda: np.exp(there),
        lambda: np.asarray(there),
        lambda: np.concatenate([there, here]),
        lambda: StandIn().exp(here),
        lambda: StandIn().concatenate([there, here]),
        lambda: there * [1.0, 2.0],
        lambda: StandIn().exp([1.0]),
    ],
)
def test_arrays_of_two_devices_do_not_mix(mix):
    with pytest.raises(TypeError):
        mix()


@pytest.mark.skipif(cupy is None, reason="needs CuPy, though no GPU")
def test_what_cupy_does_not_have_does_not_exist():
    with pytest.raises(AttributeError):
        StandIn().emath  # noqa: B018
    with pytest.raises(AttributeError):
        there.tostring  # noqa: B018
    with pytest.raises(AssertionError, match="where"):
        StandIn().exp(there, where=there > 1)
    with pytest.raises(TypeError):
        StandIn().full_like(there, 1.0, device="cpu")


def test_it_computes_as_numpy_does():
    np.testing.assert_array_equal((2 * there + there.sum(keepdims=True)).get(), [5, 7])
    np.testing.assert_array_equal(StandIn().where(there > 1, there, -there).get(), [-1, 2])


def test_every_result_that_is_no_view_counts_as_a_launch():
    before = DeviceArray.launches
    views = there.reshape(2, 1).T, there[:1], there[None], StandIn().broadcast_to(there, (3, 2))
    assert DeviceArray.launches == before and len(views) == 4
    place = StandIn().asarray([1, 0])
    new = there + 1, -there, there.sum(), there @ there, StandIn().exp(there), there[place]
    assert DeviceArray.launches == before + len(new)
    there[:] = there.copy()
    assert DeviceArray.launches == before + len(new) + 2


def test_every_look_at_a_number_is_counted():
    before = DeviceArray.waits
    total = there.sum()
    assert DeviceArray.waits == before
    assert (float(total), int(total), bool(total), total.item()) == (3.0, 3, True, 3.0)
    assert (there.tolist(), there[there > 1].shape) == ([1.0, 2.0], (1,))
    assert StandIn().flatnonzero(there).shape == (2,)
    assert DeviceArray.waits == before + 7
