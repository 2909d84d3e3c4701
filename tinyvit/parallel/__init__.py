"""One process or many: ranks that train one model together, over MPI, and over NCCL between GPUs."""

from tinyvit.parallel.job import one_job, start, voice
from tinyvit.parallel.ranks import ALONE, Ranks

__all__ = ["ALONE", "Ranks", "one_job", "start", "voice"]
