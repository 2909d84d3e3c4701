"""`python -m lessons.mine`: the best model that the functions of your own can make."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lessons.diagram import draw_mine
from lessons.mine import planting
from lessons.mine.exercises import LIBRARY, WRONG, YOURS, Answers, examine, results_of
from lessons.mine.hybrid import Hybrid, assemble
from lessons.mine.ladder import RUNGS, Rung
from lessons.mine.loop import TESTED, pictures_of
from lessons.mine.operations import BY_NAME, OPERATIONS
from lessons.mine.proof import Proof, prove
from lessons.mine.training import BATCH, FULL, HALF, QUICK, Curve, Length, learn_one_batch, shapes, train
from tinyvit.engine.blas import keep_freed_memory, one_blas_thread
from tinyvit.support.figures import percent
from tinyvit.support.shell.command import make_parser, png_path, run_command
from tinyvit.support.shell.moving_line import MovingLine
from tinyvit.support.shell.progress import Progress

PICTURE, REACHED = (Path(__file__).parent / name for name in ("mine.png", "reached.json"))
ALONE, QUICKLY = (8000, 6), (2000, 4)  # pictures, and how often each is seen

# The list that is printed: how far each operation is indented, from the pixels to the next batch.
TREE = (
    ("crop and flip", 0),
    ("normalise", 0),
    ("ViT", 0),
    ("patches", 1),
    ("linear", 1),
    ("class token", 1),
    ("position embedding", 1),
    ("block", 1),
    ("LayerNorm", 2),
    ("attention", 2),
    ("one head", 3),
    ("softmax backward", 3),
    ("MLP", 2),
    ("GELU", 3),
    ("drop path", 2),
    ("cross-entropy", 0),
    ("clipping", 0),
    ("learning rate", 0),
    ("AdamW", 0),
    ("one batch", 0),
)
MARKS = {YOURS: "+", LIBRARY: ".", WRONG: "!"}


def main(arguments: argparse.Namespace) -> None:
    """Do what the command line asks for."""
    if arguments.plant == "list":
        print("\n".join(planting.listed()))
        return
    keep_freed_memory()
    with one_blas_thread():  # the matrices are small: more threads only wait for each other
        build(arguments)


def build(arguments: argparse.Namespace) -> None:
    """Check the answers, put a model together, and train it."""
    mutant = planting.find(arguments.plant) if arguments.plant else None
    answers = check(arguments.impl)
    if mutant:
        plant(answers, mutant, QUICK if arguments.quick else HALF)
        return
    show(answers, arguments.picture, LIBRARY if arguments.mixture else "to do")
    if arguments.mixture:
        hybrid = assemble(answers.files, answers.named(YOURS))
        tell_proof(prove(hybrid))
        learn(hybrid, QUICK if arguments.quick else FULL)
    else:
        climb(answers, arguments.impl, *(QUICKLY if arguments.quick else ALONE))


def climb(answers: Answers, impl: str, pictures: int, epochs: int) -> None:
    """Train the highest rung whose operations are all yours, and print the ladder."""
    yours = {operation.name for operation in answers.named(YOURS)}
    reachable = [rung for rung in RUNGS if yours.issuperset(rung.needs)]
    key = f"{impl}, {pictures} pictures, {epochs} epochs"
    kept = json.loads(REACHED.read_text("utf-8")) if REACHED.exists() else {}
    reached = kept.setdefault(key, {})
    if reachable:
        reached[reachable[-1].name] = train_alone(reachable[-1], answers, pictures, epochs)
        REACHED.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    print(f"What your parts alone can do, on {TESTED:,} new pictures of ten shapes:\n")
    line = MovingLine(sys.stdout)
    for rung in RUNGS:
        share, best = reached.get(rung.name), rung is (reachable[-1] if reachable else None)
        bar = "#" * round(30 * (share or 0))
        what = percent(share).strip() if share is not None else "not trained yet" if rung in reachable else ""
        text = f"  {'+' if rung in reachable else '.'} {rung.name:28} lesson {rung.lesson}  {bar:30} {what}"
        line.stay(line.paint(text.rstrip(), "bold" if best else "green" if rung in reachable else "dim"))
    above = [rung for rung in RUNGS if rung not in reachable]
    if above:
        *others, last = (name for name in above[0].needs if name not in yours)
        missing = f"{', '.join(others)} and {last}" if others else last
        print(f"\nThe next one needs your {missing}, after lesson {above[0].lesson}.")


def train_alone(rung: Rung, answers: Answers, pictures: int, epochs: int) -> float:
    """The accuracy of a rung's model, made of the learner's functions and nothing else."""
    hybrid = assemble(answers.files, [BY_NAME[name] for name in rung.needs])
    line, start = MovingLine(sys.stdout), time.perf_counter()

    def report(epoch: int, loss: float) -> None:
        left = (time.perf_counter() - start) / epoch * (epochs - epoch)
        line.move(f"{rung.name}: epoch {epoch} of {epochs}, loss {loss:.2f}, {left:.0f} s left")

    with hybrid.in_place():
        accuracy = rung.train(hybrid.own, pictures_of(pictures), epochs, report)
    line.erase()
    return accuracy


def check(impl: str) -> Answers:
    """Run the lessons' checks, saying on the bottom line which lesson they are at."""
    line = MovingLine(sys.stdout)

    def report(lesson: str) -> None:
        if line.is_due():
            line.move(f"checking your answers: {lesson}")

    answers = examine(file=impl, report=report)
    line.erase()
    return answers


def show(answers: Answers, picture: Path, missing: str) -> None:
    """Print the state of every operation, and draw the map; missing is said of what is not written."""
    line = MovingLine(sys.stdout)
    states = {each.operation.name: each for each in answers.states}
    for name, depth in TREE:
        each = states[name]
        state = missing if each.state == LIBRARY else each.state
        text = f"  {MARKS[each.state]} {'  ' * depth + name:26} {state:14} lesson {each.operation.lesson:2}"
        line.stay(line.paint(text, {YOURS: "green", LIBRARY: "dim", WRONG: "bold"}[each.state]))
    for each in answers.states:
        if each.reason:
            print(f"\n{each.operation.name} is not right yet. {each.reason}")
            print(f"    More: pytest lessons/{answers.files[each.operation.lesson].parent.name}")
    parts = {state: {p for o in answers.named(state) for p in o.parts} for state in (YOURS, WRONG)}
    draw_mine(parts[YOURS], parts[WRONG]).save(picture)
    print(f"\n{count(len(answers.named(YOURS)))} The map of them: {_shown(picture)}\n")


def count(yours: int) -> str:
    """Number of operations that are yours, in a sentence."""
    return f"{yours} of {len(OPERATIONS)} operations {'is' if yours == 1 else 'are'} yours."


def tell_proof(proof: Proof) -> None:
    """Print what the gradient check has found."""
    if proof.fault is None:
        print(
            f"Gradient check: {proof.derivatives:,} derivatives, of your operations as the model calls them "
            "and of\nall parameters, agree with central differences."
        )
        return
    print(f"Gradient check: the first wrong number sits in {_where(proof.fault.operation)}.")
    print(f"    {proof.fault.message}")


def learn(hybrid: Hybrid, length: Length) -> Curve:
    """Train, and print how it went."""
    dataset = shapes(length)
    losses = learn_one_batch(hybrid, dataset)
    print(
        f"One batch, again and again: the loss falls from {losses[0]:.3f} to {losses[-1]:.3f} in "
        f"{len(losses)} steps."
    )
    curve = train(hybrid, dataset, length, reporter(length))
    print(f"{len(dataset.train):,} images, {length.epochs} times: the mean loss of each epoch is")
    print(f"    {figures(by_epoch(curve, length))}")
    line = MovingLine(sys.stdout)
    accuracy = f"{percent(curve.accuracy).strip()} of {len(dataset.test):,} test images are recognised"
    line.stay(f"\n{line.paint(f'{count(len(hybrid.operations))[:-1]}: {accuracy}.', 'bold')}")
    return curve


def plant(answers: Answers, mutant: planting.Mutant, length: Length) -> None:
    """Put a wrong answer into the model, and show who notices."""
    spoiled = " and ".join(operation.name for operation in mutant.operations)
    print(f"Planted in {spoiled}: {mutant.name}. {mutant.fault}\n")
    results = results_of(mutant.lesson, mutant.name)
    failed = [result for result in results if result["state"] == "wrong"]
    number = int(mutant.lesson.name[:2])
    print(f"Of the {len(results)} checks of lesson {number}, {len(failed)} fail. The first of them says:")
    if failed:
        print(_indented(f"{failed[0]['check']}: {failed[0]['message']}"))
    sick = assemble(answers.files, answers.named(YOURS), planted=mutant)
    proof = prove(sick)
    if proof.fault:
        print(f"The gradient check of the model names {_where(proof.fault.operation)}:")
        print(_indented(proof.fault.message))
    else:
        print(
            "The gradient check of the model finds nothing: this model never puts the answer to the case in "
            "which\nit is wrong. That is why the checks of a lesson try more than one case."
        )
    dataset = shapes(length)
    curves = {}
    for label, hybrid in (("sound", assemble(answers.files, answers.named(YOURS))), ("planted", sick)):
        try:
            curves[label] = train(hybrid, dataset, length, reporter(length, label))
        except Exception as error:
            print(f"\nThe model cannot be trained with it: {error}")
            return
    print(f"\nThe curve: mean loss of each epoch of {len(dataset.train):,} images, and the test accuracy")
    for label, curve in curves.items():
        print(f"    {label:8} {figures(by_epoch(curve, length))}   {percent(curve.accuracy)}")


def reporter(length: Length, label: str = "") -> Callable[[int, float], None]:
    """The moving line of a training; it vanishes with the last step."""
    progress, start, steps = Progress(), time.perf_counter(), length.images // BATCH
    if label:
        print(end="", flush=True)

    def report(step: int, loss: float) -> None:
        if step == length.steps:
            progress.clear()
            return
        seconds = time.perf_counter() - start
        epoch, k = divmod(step - 1, steps)
        left = seconds / step * (length.steps - step)
        progress.step(epoch + 1, length.epochs, k + 1, steps, loss, step * BATCH / seconds, left)

    return report


def by_epoch(curve: Curve, length: Length) -> list[float]:
    """The mean loss of each epoch."""
    return np.array(curve.losses).reshape(length.epochs, -1).mean(axis=1).tolist()


def figures(losses: list[float]) -> str:
    """Losses in a row."""
    return " ".join(f"{loss:5.3f}" if math.isfinite(loss) else "  nan" for loss in losses)


def _where(name: str) -> str:
    return f"{name} (lesson {BY_NAME[name].lesson})"


def _indented(message: str) -> str:
    return "\n".join(f"    {line.strip()}" for line in message.splitlines())


def _shown(path: Path) -> str:
    """A path as seen from the current folder, where it lies below it."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser(
        "mine",
        "Train the best model that can be made of the functions that you wrote in the lessons.",
        "The lessons' checks say which operations are yours. Of these alone it builds the highest rung of a "
        "ladder, from a linear classifier (lesson 3) to a ViT trained by AdamW (lesson 9), and trains it on "
        "the built-in shapes. A second run on the same machine prints the same numbers.",
    )
    result.prog = "lessons.mine"
    result.add_argument("--quick", action="store_true", help="train for a few seconds only")
    result.add_argument(
        "--mixture",
        action="store_true",
        help="let tinyvit fill the gaps: a whole ViT at any time, with a gradient check of yours in it",
    )
    result.add_argument(
        "--plant",
        metavar="NAME",
        help="put a wrong answer into the model and see who notices; 'list' lists them all",
    )
    result.add_argument(
        "--impl",
        choices=("exercise", "solution"),
        default="exercise",
        help="take your files, or the solutions",
    )
    result.add_argument(
        "--picture", type=png_path, default=PICTURE, help="where to draw the map (lessons/mine/mine.png)"
    )
    return result


if __name__ == "__main__":
    run_command(parser(), main)
