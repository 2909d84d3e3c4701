"""Studies, each a small file: a question, the runs that answer it, how the answer is shown."""

from tinyvit.studies import (
    data,
    ingredients,
    pooling,
    positions,
    scaling,
    time_to_accuracy,
    transfer,
    unlabelled,
)
from tinyvit.studies.study import Study

STUDIES: dict[str, Study] = {
    "positions": positions.STUDY,
    "pooling": pooling.STUDY,
    "data": data.STUDY,
    "scaling": scaling.STUDY,
    "transfer": transfer.STUDY,
    "unlabelled": unlabelled.STUDY,
    "ingredients": ingredients.STUDY,
    "time-to-accuracy": time_to_accuracy.STUDY,
}
