"""One HTML file in which a trained model runs: weights, both passes in JavaScript, a page to play with."""

from tinyvit.insight.page.build import write_page
from tinyvit.insight.page.contents import NO_LABEL, Samples, check_page_can_run, choose_samples

__all__ = ["NO_LABEL", "Samples", "check_page_can_run", "choose_samples", "write_page"]
