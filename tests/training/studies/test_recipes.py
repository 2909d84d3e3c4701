"""The results of studies stay comparable when the recipe of a data set becomes better."""

import pytest

from tinyvit.backend import select_device
from tinyvit.training.choices import new_settings
from tinyvit.training.settings import Settings
from tinyvit.training.studies.paper import SIZES, STUDIES
from tinyvit.training.studies.plan import Plan

# What a study must choose, and what follows from its length in steps or from the machine.
DERIVED = {"model", "epochs", "warmup_epochs", "position_at", "threads"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sorted(STUDIES))
def test_what_a_study_does_not_choose_comes_from_no_recipe(name, size, tmp_path):
    usual = Settings(dataset="cifar10", model="").as_dict()
    for job in Plan(name, STUDIES[name], size, "cifar10", tmp_path).jobs(1):
        if job.first or job.chosen.get("target") or "resnet" in job.chosen.get("model", ""):
            continue  # these have what fine-tuning, learning without labels and a ResNet call for
        found = new_settings(job.chosen, None, select_device("cpu")).as_dict()
        left = found.keys() - job.chosen.keys() - DERIVED
        assert {key: found[key] for key in left} == {key: usual[key] for key in left}
