"""Does a recipe reach the same accuracy in PyTorch as in tinyvit? Needs torch.

    python -m tests.golden.same_recipe_in_torch --recipe cpu-8-minutes --epochs 2 --seeds 3

First both take a few steps from the same values on the same batches, and their losses must be equal. Then
each trains the whole recipe, once for each seed, with random numbers of its own. The runs in PyTorch start
from values that tinyvit draws, with other seeds; all else is PyTorch's (see torch_recipe.py). The difference
between the means should be no more than the seeds explain. Both compute on the CPU, in float32.
"""

import importlib.util
import io
import statistics
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from tinyvit.engine import available_cores
from tinyvit.engine.blas import blas_threads
from tinyvit.support.errors import UserError
from tinyvit.support.figures import duration
from tinyvit.support.shell.command import make_parser, positive_int, run_command, thread_count
from tinyvit.support.shell.progress import Progress
from tinyvit.training.recipes import RECIPES, named_recipe
from tinyvit.training.run_data import load_data
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.session import train
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import starting_model

STEPS = 20  # that both take together, at first


def main(args):
    """Print the accuracy of every run, their means, and how far apart these are."""
    if importlib.util.find_spec("torch") is None:
        raise UserError("PyTorch is not installed, which this compares with: pip install torch.")
    if args.seeds < 2:
        raise UserError("one seed tells nothing of the noise between seeds: give --seeds 2 or more.")
    import torch

    from tests.golden.same_steps import largest_difference
    from tests.golden.torch_recipe import check

    settings = Settings.load(args.config) if args.config else named_recipe(args.recipe).settings
    check(settings)
    torch.set_num_threads(args.threads)
    settings = replace(settings, data_dir=args.data_dir or settings.data_dir)
    data = load_data(settings, None, quiet())
    with blas_threads(args.threads):
        for dtype, rounded in (("float64", False), ("float32", not args.unrounded)):
            apart = largest_difference(settings, data, STEPS, dtype, rounded)
            how = ", Muon's iteration in bfloat16" if rounded and settings.optimizer == "muon" else ""
            print(f"{STEPS} steps in common, {dtype}{how}: losses differ by at most {apart:.0e}", flush=True)
    results = {"tinyvit": [], "PyTorch": []}
    print(f"\n{'':9}{'seed':>5}{'accuracy':>11}{'test loss':>11}{'time':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seeds):
            out = Path(folder) / str(seed)
            report("tinyvit", seed, results, partial(in_tinyvit, args, out))
            report("PyTorch", args.seeds + seed, results, partial(in_torch, args, out))
    print("\n" + summary(results))


def quiet():
    """A progress that shows nothing."""
    return Progress(io.StringIO())


def report(side, seed, results, run):
    """Carry out a run, note its accuracy and its loss, and print a line."""
    start = time.perf_counter()
    accuracy, loss = run(seed)
    results[side].append((100 * accuracy, loss))
    took = duration(time.perf_counter() - start)
    print(f"{side:9}{seed:>5}{100 * accuracy:>10.2f}%{loss:>11.4f}{took:>9}", flush=True)


def in_tinyvit(args, out, seed):
    """The test accuracy and loss after a run of tinyvit.train in the folder `out`."""
    chosen = {"epochs": args.epochs, "threads": args.threads, "device": "cpu", "seed": seed}
    chosen |= {"data_dir": args.data_dir} if args.data_dir else {}
    chosen |= {} if args.config else {"recipe": args.recipe}
    if status := train(chosen, out, config=args.config, progress=quiet()):
        raise SystemExit(status)
    last = RunFolder(out).metrics()[-1]
    return last["test_accuracy"], last["test_loss"]


def in_torch(args, out, seed):
    """The same after training in PyTorch by the settings of the run in that folder, but with this seed."""
    import torch

    from tests.golden.torch_recipe import TorchTraining

    settings = RunFolder(out).settings()
    data = load_data(settings, None, quiet())
    own = replace(settings, seed=seed)
    start = starting_model(own, len(data.classes), None, data.train.images)
    steps = len(data.train) // own.batch_size
    torch.manual_seed(seed)
    lengths = own.epochs * steps, own.warmup(steps)
    training = TorchTraining(own, start.config, start.params, *lengths, rounded=not args.unrounded)
    training.train(data.train, own.epochs)
    return training.evaluate(data.test)


def summary(results):
    """Means, standard deviations, and the difference with its standard error, for accuracy and loss."""
    lines = []
    for which, name, form, unit in ((0, "accuracy", ".2f", "%"), (1, "test loss", ".4f", "")):
        means, errors = [], []
        for side, values in results.items():
            numbers = [value[which] for value in values]
            mean, deviation = statistics.mean(numbers), statistics.stdev(numbers)
            means.append(mean)
            errors.append(deviation / len(numbers) ** 0.5)
            lines.append(f"{name:10}{side:9}{mean:{form}}{unit} ± {deviation:{form}} over seeds")
        error = (errors[0] ** 2 + errors[1] ** 2) ** 0.5
        difference = means[0] - means[1]
        lines.append(f"{name:10}difference {difference:+{form}}{unit}, its standard error {error:{form}}")
    return "\n".join(lines)


def parser():
    """The command line."""
    p = make_parser("same_recipe_in_torch", __doc__)
    p.prog = "same_recipe_in_torch"
    which = p.add_mutually_exclusive_group()
    which.add_argument(
        "--recipe", choices=RECIPES, default="cpu-8-minutes", help="its name (default: cpu-8-minutes)"
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="a config.json instead, or other settings")
    p.add_argument("--epochs", type=positive_int, default=2, metavar="N", help="of each run (default: 2)")
    p.add_argument(
        "--seeds", type=positive_int, default=3, metavar="N", help="runs of each, 2 or more (default: 3)"
    )
    p.add_argument("--data-dir", metavar="DIR", help="where the data set is")
    p.add_argument(
        "--threads",
        type=thread_count,
        default=available_cores(),
        metavar="N",
        help="of tinyvit and of PyTorch (default: all cores)",
    )
    p.add_argument(
        "--unrounded",
        action="store_true",
        help="have Muon's iteration in PyTorch in float32, not in bfloat16 as it comes, which is slow on "
        "processors that do not compute in it",
    )
    return p


if __name__ == "__main__":
    run_command(parser(), main)
