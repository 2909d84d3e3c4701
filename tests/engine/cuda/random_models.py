"""Random small models and batches for the CUDA engine, and the plans of their steps."""

from dataclasses import replace

from hypothesis import strategies as st

from tests.helpers import small_models
from tinyvit.engine.cuda.plan import Options, Update, plan_step
from tinyvit.engine.cuda.plan.update import muon_fits
from tinyvit.model.later.rotary import DINOV3, Rotary

DATASET = (20, 8, 8, 3)


def configs():
    """Models with every option that the CUDA engine has."""
    positions = st.sampled_from(["1d", "2d", "sincos", "none"])
    later = {
        "position": positions,
        "position_on": st.sampled_from(["class", "patches", "all"]),
        "class_token": st.sampled_from([None, True]),
        "registers": st.integers(0, 2),
        "rotary": st.sampled_from([None, Rotary(), DINOV3]),
        "head_width": st.sampled_from([4, 8]),
    }
    patches = {"predicts": st.just("patches"), "classes": st.just(512)}
    patches["image_size"] = st.sampled_from([8, (8, 4), (4, 12)])  # of two patches or more
    return st.one_of(
        small_models(position=positions), small_models(**later), small_models(**later, **patches)
    )


def options(**numbers):
    """Options of a step of training."""
    return st.builds(
        Options,
        precision=st.sampled_from(["fp32", "bf16"]),
        noise=st.booleans(),
        mixing=st.booleans(),
        erasing=st.booleans(),
        operations=st.sampled_from([0, 2]),
        soft=st.booleans(),
        fresh=st.booleans(),
        update=st.sampled_from(
            [None, Update("adamw", clip=1.0), Update("sgd", momentum=0.9), Update("muon", clip=1.0)]
        ),
        **{name: st.just(value) for name, value in numbers.items()},
    )


def plan_of(config, batch, options):
    """The plan that the engine makes: without the update, where Muon's parts lie at odd places."""
    if options.update and options.update.kind == "muon" and not muon_fits(config):
        options = replace(options, update=None)
    return plan_step(config, batch, options)


def step_of(config, batch=3, **numbers):
    """A plan of a step on images of the data set, if they are of the model's size."""
    dataset = DATASET if config.image_size == (8, 8) else None
    return plan_step(config, batch, Options(dataset=dataset, **numbers))
