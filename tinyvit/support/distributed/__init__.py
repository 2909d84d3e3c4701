"""One process or many: ranks that train one model together, over MPI, and over NCCL between GPUs.

Code that is written for one process mentions them in a decorator at most: see `ranks`.
"""

from tinyvit.support.distributed.job import error_prefix, for_all_ranks, one_job, start
from tinyvit.support.distributed.ranks import (
    ALONE,
    Ranks,
    acting_as,
    current,
    on_rank_zero,
    one_per_machine_first,
)

__all__ = [
    "ALONE",
    "Ranks",
    "acting_as",
    "current",
    "error_prefix",
    "for_all_ranks",
    "on_rank_zero",
    "one_job",
    "one_per_machine_first",
    "start",
]
