"""What all tests share: the GPU, if there is one, and one setting of hypothesis."""

import pytest
from hypothesis import settings

from tinyvit.backend import select_device

settings.register_profile("tinyvit", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("tinyvit")


@pytest.fixture(scope="session")
def gpu():
    """The GPU as a Device; a test that asks for it is skipped, with the reason, where there is none."""
    device = select_device("gpu")
    if not device.is_gpu:
        pytest.skip(device.note)
    return device
