"""The plan of a batch on the GPU: a list of launches and products, from the numbers of the model alone.

The files mirror tinyvit/model: stem and block, each a forward above its backward. step puts them together,
with the readout.
"""

from tinyvit.engine.cuda.plan.draft import PRECISIONS, Options, Plan, Update
from tinyvit.engine.cuda.plan.step import plan_inference, plan_step

__all__ = ["PRECISIONS", "Options", "Plan", "Update", "plan_inference", "plan_step"]
