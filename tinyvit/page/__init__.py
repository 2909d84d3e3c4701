"""One HTML file in which a trained model runs: weights, a forward pass in JavaScript, a page to play with."""

from tinyvit.page.build import write_page
from tinyvit.page.contents import check_page_can_run
from tinyvit.page.samples import Samples, choose_samples

__all__ = ["Samples", "check_page_can_run", "choose_samples", "write_page"]
