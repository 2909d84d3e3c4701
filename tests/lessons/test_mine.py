"""`python -m lessons.mine`: what is right takes the library's place, and what is wrong is named."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lessons import diagram
from lessons.mine import __main__ as command
from lessons.mine import answers as found_answers
from lessons.mine import exercises, loop, planting, training, yours
from lessons.mine.answers import LESSONS, asked_in, load
from lessons.mine.exercises import LIBRARY, WRONG, YOURS, Answers, State, examine
from lessons.mine.hybrid import Broken, Hybrid, assemble
from lessons.mine.ladder import RUNGS
from lessons.mine.operations import BY_NAME, OPERATIONS
from lessons.mine.proof import prove
from tinyvit import model, ops, optim
from tinyvit.data import Dataset, ImageSet
from tinyvit.model import ViTConfig
from tinyvit.support.errors import UserError

ROOT = Path(__file__).parents[2]
SOLUTIONS = {o.lesson: asked_in(o.functions[0]) / "solution.py" for o in OPERATIONS}
TINY = ViTConfig(8, 4, width=8, mlp_width=12, heads=2, layers=2, classes=3)
LENGTH = training.Length(images=60, tested=30, epochs=3)

# One wrong answer of each operation that the small model of the gradient check comes across.
PLANTED = {
    "crop and flip": "12/wrapped_around",
    "normalise": "00/zero_to_one",
    "patches": "05/backward_cuts_again",
    "linear": "03/mean_instead_of_sum",
    "class token": "05/token_gradient_averaged",
    "position embedding": "05/table_gradient_of_each_image",
    "LayerNorm": "07/missing_mean_term",
    "softmax backward": "01/only_the_diagonal",
    "one head": "06/root_forgotten_in_backward",
    "attention": "06/bias_gradients_averaged",
    "GELU": "04/product_rule_forgotten",
    "MLP": "04/slope_taken_at_g",
    "drop path": "12/not_enlarged",
    "block": "08/attention_gets_dy",
    "ViT": "08/position_gradient_forgotten",
    "cross-entropy": "01/gradient_of_the_sum",
    "clipping": "09/every_number_clipped",
    "learning rate": "09/warm_up_from_zero",
    "AdamW": "09/no_bias_correction",
    "one batch": "11/step_always_one",
}


def named(*names):
    return [BY_NAME[name] for name in names]


def random_shapes(config=TINY, length=LENGTH):
    """A data set of noise, with as many images as a length says."""
    rng = np.random.default_rng(0)

    def draw(count):
        images = rng.integers(0, 256, (count, *config.image_size, 3), dtype=np.uint8)
        return ImageSet(images, rng.integers(0, config.classes, count))

    return Dataset("noise", ("a", "b", "c"), draw(length.images), draw(length.tested))


def copy_of_the_lessons(folder, **exercises_written):
    """A copy of the lessons whose exercises are those given, each the text of a file, by number: _04=..."""
    target = folder / "lessons"
    for path in LESSONS.glob("[0-9][0-9]_*"):
        shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns("figures"))
    shutil.copy(LESSONS / "conftest.py", target)
    for number, text in exercises_written.items():
        (lesson,) = target.glob(f"{number[1:]}_*")
        (lesson / "exercise.py").write_text(text, encoding="utf-8")
    return target


LINEAR = """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)


def linear_backward(dy, cache):
    x, weight = cache
    rows, dys = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, rows.T @ dys, dys.sum(axis=0)


def unbroadcast(dy, shape):
    raise NotImplementedError("later")
"""


# What is yours.


def test_every_operation_is_asked_for_by_its_lesson():
    for operation in OPERATIONS:
        for name in operation.functions:
            assert asked_in(name).name.startswith(f"{operation.lesson:02}_"), name


def test_nothing_is_yours_before_anything_is_written(tmp_path):
    states = examine(copy_of_the_lessons(tmp_path, **{})).states
    assert {each.state for each in states} == {LIBRARY}
    assert len(states) == len(OPERATIONS)


def test_what_passes_its_checks_is_yours_and_what_does_not_is_named(tmp_path):
    wrong = (LESSONS / "06_attention/solution.py").read_text("utf-8")
    wrong = wrong.replace("math.sqrt(q.shape[-1])", "q.shape[-1]", 1)  # a slip that is soon found
    lessons = copy_of_the_lessons(
        tmp_path, _03=LINEAR, _04="def gelu(x:\n    pass\n", _06=wrong, _07="import nowhere\n" + LAYER_NORM
    )
    answers = examine(lessons)
    assert [o.name for o in answers.named(YOURS)] == ["linear"]
    reasons = {each.operation.name: each.reason for each in answers.states if each.state == WRONG}
    assert set(reasons) == {"one head", "GELU", "MLP", "LayerNorm"}
    assert "line 1: SyntaxError" in reasons["GELU"] and "04_gelu_mlp/exercise.py" in reasons["GELU"]
    assert "No module named 'nowhere'" in reasons["LayerNorm"]
    assert re.match(r"test_\w+: .+", reasons["one head"])
    hybrid = assemble(answers.files, answers.named(YOURS))
    assert prove(hybrid).fault is None


LAYER_NORM = """
def layer_norm(x, weight, bias, eps=1e-6):
    return x, None


def layer_norm_backward(dy, cache):
    return dy, dy, dy
"""


def test_an_exercise_that_never_comes_back_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(exercises, "SECONDS", 4)
    endless = LINEAR.replace("    return x @ weight + bias, (x, weight)", "    while True: time.sleep(1)")
    endless = f"import time\n{endless}"
    head = (LESSONS / "06_attention/solution.py").read_text("utf-8")
    answers = examine(copy_of_the_lessons(tmp_path, _03=endless, _06=head))
    states = {each.operation.name: each for each in answers.states}
    assert states["linear"].state == WRONG
    assert "does not come back within 4 seconds" in states["linear"].reason
    assert states["one head"].state == YOURS


@pytest.mark.parametrize(
    ("name", "its", "judged"),
    [("learning_rate", "learning rate", ("AdamW", "clipping")), ("adamw_step", "AdamW", ())],
)
def test_a_function_that_ends_python_takes_no_other_with_it(tmp_path, name, its, judged):
    right = (LESSONS / "09_optimisers/solution.py").read_text("utf-8")
    ending = f"import os\n\n\ndef {name}(*args, **more):\n    os._exit(1)\n"
    answers = examine(copy_of_the_lessons(tmp_path, _09=f"{right}\n\n{ending}"))
    states = {each.operation.name: each for each in answers.states if each.operation.lesson == 9}
    blamed = {name for name, each in states.items() if "or ends Python" in each.reason}
    assert blamed == {its} and {states[name].state for name in judged} <= {YOURS}


def test_yours_finds_what_is_written_and_else_the_solution(tmp_path, monkeypatch):
    imported = "from tinyvit.ops import gelu, gelu_backward\n"  # which exercise 4 should define
    lessons = copy_of_the_lessons(tmp_path, _03=LINEAR, _01="def softmax_backward(", _04=imported)
    monkeypatch.setattr(found_answers, "LESSONS", lessons)
    found_answers._asked.cache_clear()
    try:
        linear, backward = yours("linear", "linear_backward")
        assert linear.__code__.co_filename == str(lessons / "03_linear/exercise.py")
        assert linear.__globals__ is backward.__globals__
        assert yours("gelu") is ops.gelu
        with pytest.raises(KeyError, match=r"no lesson asks for a function named 'nothing'\W*$"):
            yours("nothing")
        with pytest.raises(KeyError, match="named 'gelu_bakward': did you mean 'gelu_backward'"):
            yours("gelu_bakward")
    finally:
        found_answers._asked.cache_clear()


# The hybrid.


@pytest.mark.parametrize(
    "names", [[], ["linear"], ["one head", "block"], ["ViT", "drop path"], [*BY_NAME]], ids=len
)
def test_a_hybrid_of_right_answers_proves_right_and_leaves_the_library_as_it_was(names):
    before = [ops.linear, ops.attention, model.block, model.forward, optim.clip_norm, optim.AdamW]
    proof = prove(assemble(SOLUTIONS, named(*names)))
    assert proof.fault is None
    assert proof.derivatives > 1000
    assert before == [ops.linear, ops.attention, model.block, model.forward, optim.clip_norm, optim.AdamW]


@pytest.mark.parametrize("of_numpy", [False, True])
def test_the_norm_of_a_float32_gradient_may_be_summed_in_float64(of_numpy):
    def clip_norm(g, largest, error=0.0):
        norm = float(np.linalg.norm(g.astype("float64").ravel()))
        told = norm * (1 + error)
        return g * min(1, largest / norm), g.dtype.type(told) if of_numpy else told

    assert prove(Hybrid({"clip_norm": clip_norm})).fault is None
    assert prove(Hybrid({"clip_norm": partial(clip_norm, error=1e-7)})).fault.operation == "clipping"


def test_all_solutions_train_as_the_library_does(monkeypatch):
    """Both have the lessons' AdamW, clipping and LayerNorm, which round in another order, and all tokens.

    A BLAS may round products of other layouts otherwise: with OpenBLAS on AVX-512 the last bit differs.
    """
    monkeypatch.setattr(ViTConfig, "tokens_needed_after", lambda self, layer: None)
    tiny = replace(TINY, drop_path=0.0)  # the ViT of lesson 8 has none
    dataset = random_shapes()
    everything = training.train(assemble(SOLUTIONS, OPERATIONS), dataset, LENGTH, config=tiny)
    others = assemble(SOLUTIONS, named("AdamW", "clipping", "LayerNorm"))
    library = training.train(others, dataset, LENGTH, config=tiny)
    np.testing.assert_allclose(everything.losses, library.losses, rtol=1e-6)
    assert everything.accuracy == library.accuracy
    assert len(everything.losses) == LENGTH.steps
    again = training.train(assemble(SOLUTIONS, OPERATIONS), dataset, LENGTH, config=tiny)
    assert again == everything


def test_the_learners_function_is_called_wherever_the_library_calls_its_own():
    calls = []

    def linear(x, weight, bias):
        calls.append(weight.shape)
        return ops_linear(x, weight, bias)

    ops_linear = ops.linear
    hybrid = Hybrid({"linear": linear, "linear_backward": ops.linear_backward})
    training.train(hybrid, random_shapes(), replace(LENGTH, epochs=1), config=TINY)
    assert set(calls) == {(48, 8), (8, 24), (8, 8), (8, 12), (12, 8), (8, 3)}


def test_an_exercise_that_imports_an_operation_gets_the_learners_own():
    calls = []

    def softmax_backward(dy, cache):
        calls.append(dy.shape)
        return right(dy, cache)

    right = ops.softmax_backward
    module = load(LESSONS / "06_attention/solution.py")
    own = {name: getattr(module, name) for name in BY_NAME["one head"].functions}
    hybrid = Hybrid(own | {"softmax_backward": softmax_backward}, [module])
    training.train(hybrid, random_shapes(), replace(LENGTH, epochs=1), config=TINY)
    assert (2 * training.BATCH, 5, 5) in calls
    assert module.softmax_backward is right


def test_the_checks_of_the_model_reach_a_block_that_the_learners_forward_calls():
    hybrid = assemble(SOLUTIONS, named("block", "ViT"))
    with hybrid.recording() as calls:
        training.train(hybrid, random_shapes(), replace(LENGTH, epochs=1), config=TINY)
    assert calls["block"] and calls["forward"]


def test_an_error_in_an_answer_names_the_operation():
    def layer_norm(x, weight, bias, eps=1e-6):
        raise ZeroDivisionError("by nothing")

    hybrid = Hybrid({"layer_norm": layer_norm, "layer_norm_backward": ops.layer_norm_backward})
    with pytest.raises(Broken, match="layer_norm raises ZeroDivisionError: by nothing"):
        training.train(hybrid, random_shapes(), LENGTH, config=TINY)
    assert prove(hybrid).fault.operation == "LayerNorm"


# What is wrong.


@pytest.mark.parametrize("name", PLANTED)
def test_the_gradient_check_names_the_operation_in_which_a_mutant_is_planted(name):
    mutant = planting.find(PLANTED[name])
    assert [operation.name for operation in mutant.operations] == [name]
    others = OPERATIONS if name in ("linear", "softmax backward", "one head", "ViT") else []
    fault = prove(assemble(SOLUTIONS, others, planted=mutant)).fault
    assert fault is not None
    assert fault.operation == name, fault.message


def test_every_operation_has_a_planted_mutant():
    assert set(PLANTED) == set(BY_NAME)


def test_mutants_are_found_by_name_and_by_lesson_and_name():
    assert planting.find("attention_gets_dy").lesson.name == "08_vit"
    assert planting.find("4/weight_reshaped_not_transposed").lesson.name == "04_gelu_mlp"
    with pytest.raises(UserError, match="choose 03/weight_reshaped_not_transposed or 04/"):
        planting.find("weight_reshaped_not_transposed")
    with pytest.raises(UserError, match="there is no wrong answer 'none'"):
        planting.find("none")


def test_every_mutant_in_the_list_can_be_planted_by_its_name_there():
    lines = [line.split()[0] for line in planting.listed() if line.startswith("    ")]
    assert len(lines) == sum(len(mutant.operations) for mutant in planting.mutants()) > 80
    names = [mutant.name for mutant in planting.mutants()]
    for line in lines:
        assert "/" in line or names.count(line) == 1


# The command.


@pytest.fixture
def small(monkeypatch):
    """All operations right, and very little training."""
    states = [State(operation, YOURS) for operation in OPERATIONS]
    monkeypatch.setattr(command, "check", lambda impl: Answers(states, SOLUTIONS))
    monkeypatch.setattr(command, "QUICK", training.Length(60, 30, 2))
    monkeypatch.setattr(training, "ONE_BATCH_STEPS", 3)
    return states


def test_the_command_shows_every_operation_and_trains(small, tmp_path, capsys):
    small[3] = State(OPERATIONS[3], WRONG, "test_one: dweight is 2 times too large")
    small[4] = State(OPERATIONS[4])
    picture = tmp_path / "map.png"
    command.main(command.parser().parse_args(["--mixture", "--quick", "--picture", str(picture)]))
    printed = capsys.readouterr().out
    assert picture.stat().st_size > 10_000
    assert re.search(r"! +linear +not right yet +lesson +3\n", printed)
    assert re.search(r"\. +class token +tinyvit's +lesson +5\n", printed)
    assert "linear is not right yet. test_one: dweight is 2 times too large" in printed
    assert "derivatives" in printed and "agree with central differences" in printed
    assert re.search(r"18 of 20 operations are yours: [\d.]+% of 30 test images are recognised", printed)


def test_alone_trains_the_highest_rung_that_is_all_yours_and_remembers_the_others(
    small, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(command, "REACHED", tmp_path / "reached.json")
    monkeypatch.setattr(command, "QUICKLY", (100, 2))
    run = lambda: command.main(
        command.parser().parse_args(["--quick", "--picture", str(tmp_path / "map.png")])
    )
    for lacking in ("patches", "AdamW"):
        states = [State(o, LIBRARY if o.name == lacking else YOURS) for o in OPERATIONS]
        monkeypatch.setattr(command, "check", lambda impl, s=states: Answers(s, SOLUTIONS))
        run()
    lines = capsys.readouterr().out.split("What your parts alone can do")
    assert re.search(
        r"\+ an MLP on all pixels +lesson 4 +#* +[\d.]+%\n  \. an MLP on every patch +lesson 5\n", lines[1]
    )
    assert "The next one needs your patches, after lesson 5." in lines[1]
    assert re.search(r"\+ an MLP on all pixels +lesson 4 +#* +[\d.]+%\n", lines[2])
    assert re.search(r"\+ and attention +lesson 6 +not trained yet\n", lines[2])
    assert re.search(r"\+ a ViT of three blocks +lesson 8 +#* +[\d.]+%\n", lines[2])
    assert "The next one needs your AdamW, after lesson 9." in lines[2]


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
def test_the_gradients_of_every_rung(rung, monkeypatch):
    """The gradient of every parameter is the slope along a random direction."""
    own = assemble(SOLUTIONS, named(*rung.needs)).own
    seen = {}

    def fit(own, forward, backward, params, data, epochs, rate, report, adamw):
        seen.update(forward=forward, backward=backward, params=params)
        return params

    monkeypatch.setattr(loop, "fit", fit)
    rung.train(own, loop.pictures_of(100), 1, lambda epoch, loss: None)
    rng = np.random.default_rng(0)
    params = {name: rng.normal(0, 0.1, array.shape) for name, array in seen["params"].items()}
    images = rng.normal(size=(2, 32, 32, 3))
    scores, cache = seen["forward"](params, images)
    dscores = rng.normal(size=scores.shape)
    grads = seen["backward"](dscores, cache)
    assert grads.keys() == params.keys()
    for name in params:
        push = 1e-6 * rng.normal(size=params[name].shape)
        up, down = ({**params, name: params[name] + sign * push} for sign in (1, -1))
        slope = ((seen["forward"](up, images)[0] - seen["forward"](down, images)[0]) * dscores).sum() / 2
        assert (grads[name] * push).sum() == pytest.approx(slope, rel=1e-5, abs=1e-11), name


def test_planting_shows_who_notices(small, capsys):
    command.main(command.parser().parse_args(["--quick", "--plant", "only_the_diagonal"]))
    printed = capsys.readouterr().out
    assert "Planted in softmax backward: only_the_diagonal." in printed
    assert re.search(r"Of the \d+ checks of lesson 1, [1-9]\d* fail", printed)
    assert "The gradient check of the model names softmax backward (lesson 1):" in printed
    assert re.search(r"\n    sound    \d\.\d+ .*%\n    planted  \d\.\d+ .*%", printed)


def test_the_help_and_a_mistake_are_as_in_all_commands():
    run = lambda *words: subprocess.run(
        [sys.executable, "-m", "lessons.mine", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert "--plant NAME" in run("--help").stdout
    wrong = run("--plant", "nothing_of_that_name")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("lessons.mine: error: there is no wrong answer 'nothing_of_that_name'")
    assert wrong.stderr.count("\n") == 1


# The map.


def test_there_is_a_map_for_every_lesson_and_all_its_parts_are_drawn():
    numbers = {int(path.name[:2]) for path in LESSONS.glob("[0-9][0-9]_*")}
    assert numbers <= set(diagram.LESSONS)
    drawn = set()

    def style(part):
        drawn.update((part, part.split(".")[0]))
        return diagram.QUIETLY

    sheet = diagram.draw(style, diagram.KEYS_OF_MINE)
    assert sheet.finished().size == (1560, 532)
    named = {part for parts in diagram.LESSONS.values() for part in parts}
    assert named | {part for operation in OPERATIONS for part in operation.parts} <= drawn


def test_the_map_on_a_lessons_page_is_the_one_that_is_drawn():
    with Image.open(LESSONS / "07_layer_norm/figures/where.png") as saved:
        shown = np.asarray(saved.convert("RGB")).astype(int)
    assert np.abs(shown - np.asarray(diagram.draw_lesson(7).finished())).max() < 40
