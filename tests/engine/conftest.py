"""The setup that the tests of engines share."""

import pytest

from tinyvit.engine import CpuEngine


@pytest.fixture(scope="module", autouse=True)
def _small_models_are_computed_as_large_ones():
    """The CPU engine folds the blocks however few tokens there are, and has all threads take part in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CpuEngine, "least_tokens_to_fold", 0)
        patch.setattr(CpuEngine, "least_tokens_to_infer_folded", 0)
        patch.setattr(CpuEngine, "least_bytes_to_spread", 0)
        yield
