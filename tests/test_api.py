"""The library as a Python user meets it: `import tinyvit` and a few lines."""

import copy
import pickle
import re
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.support.shell.terminal import Stream, screen
from tinyvit.backend import Device
from tinyvit.data import ImageSet, normalise, to_input
from tinyvit.data.folder import read_labelled
from tinyvit.data.photos import PhotoFit
from tinyvit.model import attention_maps, features, forward, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import patchify
from tinyvit.support.errors import UserError
from tinyvit.support.figures import percent
from tinyvit.training import loop

CLASSES = ("dark", "light")


def dark_and_light(count, rng, side=8):
    """uint8 images (count, side, side, 3), half of them dark and half light, and labels (count,)."""
    labels = np.arange(count) % 2
    return rng.integers(0, 100, (count, side, side, 3)).astype(np.uint8) + np.uint8(140) * labels[
        :, None, None, None
    ].astype(np.uint8), labels


@pytest.fixture
def model():
    """A model of two classes whose head is not zero."""
    made = tinyvit.preset("nano/4", 8, CLASSES, seed=1, threads=1)
    made.params["head.weight"] = np.random.default_rng(2).normal(size=(64, 2))
    return made


@pytest.fixture
def images():
    return dark_and_light(6, np.random.default_rng(3))[0]


def test_answers_are_those_of_the_forward_pass(model, images):
    x = normalise(images, np.dtype("float32"))
    logits, _ = forward(model.config, model.params, x)
    np.testing.assert_allclose(model.logits(images), logits, rtol=1e-5, atol=1e-6)
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.probabilities(images), exp / exp.sum(axis=1, keepdims=True), rtol=1e-4)
    assert model.predict(images).tolist() == [CLASSES[c] for c in logits.argmax(axis=1)]
    np.testing.assert_allclose(
        model.features(images), features(model.config, model.params, x), rtol=1e-5, atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy may say more
@pytest.mark.parametrize("value", [1e30, np.nan, np.inf])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_answer_that_is_not_a_number_is_refused(model, images, value, threads):
    model.threads = threads
    model.params.flat[:] = value
    for ask in (model.predict, model.probabilities):
        with pytest.raises(UserError, match=r"answer is not a number: .*\. Use another checkpoint"):
            ask(images)


def test_one_answer_that_is_not_a_number_is_enough(model, images, monkeypatch):
    scores = np.zeros((6, 2), np.float32)
    monkeypatch.setattr(type(model), "logits", lambda self, images: scores)
    assert model.predict(images).tolist() == ["dark"] * 6
    scores[4, 1] = -np.inf
    with pytest.raises(UserError, match="not a number"):
        model.predict(images)


def test_a_model_is_evaluated_class_by_class(model, images):
    labels = np.array([0, 1, 0, 1, 1, 1])
    found, answers = model.evaluate(images, np.array(CLASSES)[labels]), model.predict(images)
    assert found.accuracy == model.score(images, labels)
    assert found.loss == pytest.approx(-np.log(model.probabilities(images)[np.arange(6), labels]).mean())
    right = [(answers[labels == c] == CLASSES[c]).mean() for c in (0, 1)]
    np.testing.assert_allclose(found.by_class.recall, right)
    assert repr(found) == f"Evaluation(6 images, loss {found.loss:.3f}, accuracy {found.accuracy:.1%})"


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_top_classes_come_with_their_probabilities_the_likeliest_first(model, images, k):
    found, probabilities = model.top(images, k), model.probabilities(images)
    for answers, row, name in zip(found, probabilities, model.predict(images), strict=True):
        assert len(answers) == min(k, 2) and answers[0] == (name, row.max())
        assert dict(answers).items() <= dict(zip(CLASSES, row.tolist(), strict=True)).items()


@pytest.mark.parametrize("k", [0, 1.5, "2"])
def test_an_impossible_number_of_top_classes_is_refused(model, images, k):
    with pytest.raises(UserError, match=r"k is .*, expected a whole number, 1 or more"):
        model.top(images, k)


def test_the_summary_names_the_model_and_counts_its_parameters(model):
    assert repr(model.summary()) == str(model.summary())
    assert model.summary().splitlines()[0] == repr(model)
    assert model.summary().splitlines()[-1].split()[-1] == f"{model.params.count:,}"


def test_an_image_set_may_be_given_as_images(model, images):
    given = ImageSet(images, labels := np.arange(6) % 2)
    np.testing.assert_array_equal(model.logits(given), model.logits(images))
    assert model.score(given) == model.score(images, labels)
    assert model.score(given, 1 - labels) == pytest.approx(1 - model.evaluate(given).accuracy)
    np.testing.assert_array_equal(model.input_gradient(given), model.input_gradient(images, labels))
    numbered = replace(model, classes=tuple(str(c) for c in range(1, model.config.classes + 1)))
    assert numbered.score(given[labels == 1]) == model.score(given[labels == 1])  # places, not names


def test_a_model_learns_from_an_image_set_and_is_judged_by_another():
    images, labels = dark_and_light(24, np.random.default_rng(0))
    one, other = (tinyvit.preset("nano/4", 8, 2, threads=1) for _ in range(2))
    one.fit(images, labels, validation=(images[:8], labels[:8]), epochs=2)
    other.fit(given := ImageSet(images, labels), validation=given[:8], epochs=2)
    assert one.history == other.history


def test_images_alone_have_no_labels(model, images):
    for ask in (model.score, model.evaluate, model.fit, model.input_gradient):
        with pytest.raises(UserError, match="there are images but no labels: give one label for each"):
            ask(images)


def test_attention_is_that_of_every_layer_head_and_token(model, images):
    x = normalise(images, np.dtype("float32"))
    found = model.attention(images)
    assert found.shape == (6, 4, 4, 5, 5)
    for layer, expected in enumerate(attention_maps(model.config, model.params, x)):
        np.testing.assert_allclose(found[:, layer], expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-5)
    drawn = found[:, -1, :, 0, 1:].mean(axis=1)
    np.testing.assert_allclose(
        model.attention_map(images).reshape(6, 4), drawn / drawn.sum(axis=1, keepdims=True), rtol=1e-4
    )


def test_one_image_a_file_and_a_list_of_files_are_images_too(model, images, tmp_path):
    paths = []
    for i in range(2):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(images[i]).save(paths[-1])
    expected = model.logits(images[:2])
    np.testing.assert_allclose(model.logits(images[0]), expected[:1], rtol=1e-5)
    np.testing.assert_allclose(model.logits(str(paths[0])), expected[:1], rtol=1e-5)
    np.testing.assert_allclose(model.logits(paths), expected, rtol=1e-5)


def test_training_on_arrays_learns_and_returns_the_model():
    rng = np.random.default_rng(0)
    images, labels = dark_and_light(200, rng)
    fresh = tinyvit.preset("nano/4", 8, CLASSES, threads=1)
    trained = fresh.fit(images, labels, epochs=3, batch_size=20)
    assert trained is fresh
    more, truth = dark_and_light(50, rng)
    assert (trained.predict(more) == np.array(CLASSES)[truth]).mean() == 1


@pytest.mark.parametrize("classes", [CLASSES, 2, np.arange(2)], ids=["names", "count", "numbers"])
def test_a_score_is_the_share_of_right_answers_whatever_labels_are(classes):
    images, labels = dark_and_light(20, np.random.default_rng(0))
    model = tinyvit.preset("nano/4", 8, classes, threads=1).fit(images, labels, epochs=6, batch_size=5)
    mixed = np.where(np.arange(20) < 5, 1 - labels, labels)
    for given in (mixed, mixed.tolist(), np.array(model.names)[mixed], mixed.astype(np.uint8)):
        assert model.score(images, given) == 0.75
    assert (model.predict(images) == np.array(model.names)[mixed]).mean() == 0.75
    with pytest.raises(UserError, match="found 20 images and 3 labels"):
        model.score(images, labels[:3])
    with pytest.raises(UserError, match="a label is 2, expected 0 to 1"):
        model.score(images, labels + 1)


NUMBERS = [[0, 1], (0, 1), 1, np.int64(0), [0.0, 1.0], np.array([0, 1], object), np.zeros((2, 1))]


@pytest.mark.parametrize("numbers", [np.array([0, 1]), np.array([True, False]), *NUMBERS], ids=repr)
def test_answers_are_not_compared_with_numbers_in_silence(model, images, numbers):
    answers = model.predict(images[:2])
    for compare in (
        *(lambda: answers == numbers, lambda: answers != numbers, lambda: numbers == answers),
        *(lambda: numbers != answers, lambda: np.mean(answers == numbers), lambda: answers[:1] == numbers),
    ):
        with pytest.raises(UserError, match=r"names of classes, .* use model\.score\(images, labels\)"):
            compare()


def test_nor_does_pandas_compare_answers_with_numbers(model, images):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    answers, numbers = model.predict(images[:2]), pandas.Series([0, 1])
    for compare in (lambda: answers == numbers, lambda: numbers == answers, lambda: numbers != answers):
        with pytest.raises(UserError, match="names of classes"):
            compare()
    names = pandas.Series(answers.tolist())
    assert (names == answers).all() and (answers == names).all() and not (names != answers).any()


def test_answers_are_otherwise_an_array_of_names(model, images):
    answers = model.predict(images)
    names = answers.tolist()
    assert str(answers) == str(np.array(names)) and answers.shape == (6,)
    for others in (names, np.array(names), np.array(names, object), answers, answers.copy()):
        assert type(answers == others) is np.ndarray and (answers == others).all()
        assert not (answers != others).any()
    assert (answers == names[0])[0] and (answers == None).sum() == 0  # noqa: E711
    assert np.array_equal(np.unique(answers), sorted(set(names)))
    assert pickle.loads(pickle.dumps(answers)).tolist() == names
    assert (answers[:0] == []).shape == (0,)


def test_labels_may_be_names():
    images, labels = dark_and_light(20, np.random.default_rng(0))
    by_number, by_name = (tinyvit.preset("nano/4", 8, CLASSES, threads=1) for _ in range(2))
    by_number.fit(images, labels, epochs=1, batch_size=10)
    by_name.fit(images, [CLASSES[c] for c in labels], epochs=1, batch_size=10)
    np.testing.assert_array_equal(by_number.params.flat, by_name.params.flat)
    with pytest.raises(UserError, match=r"no class 'grey'.*dark, light"):
        by_name.fit(images, ["grey"] * 20)


def test_labels_that_may_be_places_of_classes_or_their_names_are_refused():
    """Folders called 1 to 12 are sorted as text, and no class called 1 is in place 1."""
    images, labels = dark_and_light(20, np.random.default_rng(0))
    model = tinyvit.preset("nano/4", 8, ["1", "2", "3"], threads=1)
    for ask in (model.score, partial(model.fit, epochs=1)):
        with pytest.raises(UserError, match="a label is 2, the name of class 1, but numbers count classes"):
            ask(images, labels + 1)
        ask(images, [str(label + 1) for label in labels])
        ask(images, np.array(model.names)[labels])
    for names in (["0", "1", "2"], ["1", "3", "5"], ["1999", "2001", "2020"], ["0", "10", "2"]):
        model = tinyvit.preset("nano/4", 8, names, threads=1)
        assert model.score(images, labels) == model.score(images, np.array(names)[labels])


def test_names_whose_accents_are_written_in_two_ways_are_one_class():
    composed, split = "caf\u00e9", "cafe\u0301"
    images, labels = dark_and_light(20, np.random.default_rng(0))
    model = tinyvit.preset("nano/4", 8, (split, "tea"), threads=1)
    assert model.names == (composed, "tea")
    model.fit(images, [((composed, split)[i % 3 > 0], "tea")[c] for i, c in enumerate(labels)], epochs=1)
    with pytest.raises(UserError, match="two classes are called"):
        tinyvit.preset("nano/4", 8, (composed, split))


def test_two_classes_of_one_name_are_told_apart_by_their_numbers_everywhere(model, images, tmp_path):
    """As ImageNet's two cranes: a name never means the first of them here and the last there."""
    model = replace(model, classes=("crane", "crane"))
    assert model.names == ("crane (0)", "crane (1)") and set(model.predict(images)) <= set(model.names)
    with pytest.raises(UserError, match=r"no class 'crane': the classes are crane \(0\), crane \(1\)"):
        copy.deepcopy(model).fit(images[:2], ["crane", "crane"], epochs=1)
    copy.deepcopy(model).fit(images[:2], ["crane (0)", "crane (1)"], epochs=1)
    (tmp_path / "photos" / "crane").mkdir(parents=True)
    Image.fromarray(images[0]).save(tmp_path / "photos" / "crane" / "a.png")
    with pytest.raises(
        UserError, match=r"a folder 'crane', but .* expected some of 'crane \(0\)', 'crane \(1\)'"
    ):
        read_labelled(tmp_path / "photos", "all", model.names, (8, 8), None, pytest.fail)
    model.save(tmp_path / "m.npz")
    assert tinyvit.load(tmp_path / "m.npz").names == model.names


def test_whole_numbers_are_labels_whatever_their_dtype(model, images):
    once = copy.deepcopy(model).fit(images[:2], [0, 1], epochs=1)
    objects = np.array([np.int64(0), np.int16(1)], object)
    for labels in (np.array([0, 1], object), np.array([0, 1], np.uint8), objects):
        again = copy.deepcopy(model).fit(images[:2], labels, epochs=1)
        np.testing.assert_array_equal(again.params.flat, once.params.flat)


def test_classes_that_count_from_0_may_be_given_as_numbers():
    assert tinyvit.preset("nano/4", 8, np.arange(3)).classes == ("0", "1", "2")


def test_a_setting_that_does_not_exist_is_named_beside_those_that_do(model, images):
    for wrong, meant in (
        ("learning_rate", r" \(did you mean lr\?\)"),
        ("batchsize", r" \(did you mean batch_size\?\)"),
        ("callbacks", r" \(did you mean report\?\)"),
        ("data_dir", ": expected some of .* and [0-9]+ others"),
    ):
        with pytest.raises(UserError, match=rf"no setting {wrong}{meant}\."):
            model.fit(images, [0] * len(images), **{wrong: 0.1})


@pytest.mark.parametrize(
    ("of_what", "name", "meant"),
    [
        ("a model", "predict_proba", "probabilities"),
        ("a model", "forward", "logits"),
        ("a model", "state_dict", "params"),
        ("a model", "cuda", "to"),
        ("tinyvit", "create_model", "preset"),
        ("tinyvit", "VitClassifier", "ViTClassifier"),
    ],
)
def test_what_a_model_or_the_library_has_under_another_name_is_suggested(model, of_what, name, meant):
    thing = model if of_what == "a model" else tinyvit
    with pytest.raises(AttributeError, match=rf"no attribute '{name}' \(did you mean {meant}\?\)"):
        getattr(thing, name)
    assert not hasattr(thing, "_repr_html_")
    with pytest.raises(UserError, match=r"a model has no num_heads \(did you mean heads\?\)"):
        tinyvit.preset("nano/4", 8, 2, num_heads=2)


def test_a_report_that_cannot_be_called_is_refused_before_training(model, images):
    before = model.params.flat.copy()
    with pytest.raises(UserError, match="report is 3, expected a function of the epoch and its loss"):
        model.fit(images, [0] * len(images), epochs=1, report=3)
    assert np.array_equal(model.params.flat, before)


def test_training_leaves_a_history_and_judges_by_validation_images():
    model = tinyvit.preset("nano/4", 8, ["moon", "sun"], threads=1)
    images, labels = dark_and_light(24, np.random.default_rng(0))
    told, pair = [], (images[:8], np.array(["moon", "sun"])[labels[:8]])
    model.fit(images, labels, epochs=2, validation=pair, report=lambda *known: told.append(known))
    assert [tuple(each.values()) for each in model.history] == told
    assert [*model.history[1]] == ["epoch", "loss", "validation_loss", "validation_accuracy"]
    assert told[1][3] == (model.predict(images[:8]) == pair[1]).mean()
    model.fit(images, labels, epochs=5, report=lambda epoch, loss: epoch == 3)
    assert [[*each] for each in model.history] == [["epoch", "loss"]] * 3
    before = model.history
    for wrong in (images, (images[:8],), 3):
        with pytest.raises(UserError, match=r"validation is a \w+, expected \(images, labels\)"):
            model.fit(images, labels, validation=wrong)
    with pytest.raises(UserError, match="found 8 images and 3 labels"):
        model.fit(images, labels, validation=(images[:8], labels[:3]))
    assert model.history is before


def test_a_function_of_one_s_own_may_change_the_images():
    images, labels = dark_and_light(24, np.random.default_rng(0))
    invert, seen = lambda image, rng: 255 - image, []

    def train(images, **settings):
        made = tinyvit.preset("nano/4", 8, 2, threads=1)
        return made.fit(images, labels, epochs=2, batch_size=8, **settings).params.flat

    np.testing.assert_array_equal(train(images, augment=invert), train(255 - images))
    assert (train(images, augment=invert) != train(images)).any()
    train(images, augment=lambda image, rng: seen.append((image.dtype, image.shape)) or image, accumulate=3)
    assert seen == [(np.uint8, (8, 8, 3))] * 48
    classifier = tinyvit.ViTClassifier(epochs=2, crop_padding=0, threads=1, augment=invert)
    shown = classifier.fit(images, labels).predict_proba(255 - images)
    classifier.set_params(augment="none").fit(255 - images, labels)
    np.testing.assert_array_equal(classifier.predict_proba(255 - images), shown)


@pytest.mark.parametrize("returned", [None, np.zeros((8, 8, 3)), np.zeros((4, 4, 3), np.uint8)])
def test_a_function_that_returns_no_such_image_is_refused_and_the_model_stays_as_it_was(model, returned):
    images, labels = dark_and_light(6, np.random.default_rng(0))
    before, count = model.params.flat.copy(), iter(range(8))
    with pytest.raises(UserError, match=r"augment returned .* shape \(8, 8, 3\), type uint8"):
        model.fit(images, labels, batch_size=2, augment=lambda x, rng: x if next(count) < 4 else returned)
    np.testing.assert_array_equal(model.params.flat, before)


def test_within_a_report_the_model_is_what_the_epoch_has_made_of_it(model, images):
    labels, seen = [0, 1] * 3, []
    model.fit(images, labels, epochs=2, report=lambda epoch, loss: seen.append(model.logits(images)))
    assert (seen[0] != seen[1]).any()
    np.testing.assert_array_equal(seen[1], model.logits(images))


def test_training_reports_each_epoch():
    images, labels = dark_and_light(25, np.random.default_rng(0))
    told = []
    model = tinyvit.preset("nano/4", 8, 2, threads=1)
    model.fit(images, labels, epochs=2, batch_size=10, report=lambda *args: told.append(args))
    assert [epoch for epoch, _ in told] == [1, 2]
    assert told[0][1] == pytest.approx(np.log(2), rel=0.5)


@pytest.mark.parametrize(
    ("terminal", "given", "is_shown"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"progress": False}, False),
        (False, {"progress": True}, True),
        (True, {"report": print}, False),
        (True, {"report": lambda *known: None, "progress": True}, True),
    ],
)
def test_training_shows_its_progress_where_somebody_looks(monkeypatch, terminal, given, is_shown):
    stream = Stream(terminal)
    monkeypatch.setattr("sys.stdout", stream)
    images, labels = dark_and_light(24, np.random.default_rng(0))
    tinyvit.preset("nano/4", 8, 2, threads=1).fit(images, labels, epochs=2, batch_size=8, **given)
    shown = screen(stream.text, 80)
    assert any(re.match(r"epoch 2/2  loss \d\.\d+ +[\d.,]+ img/s +0:00$", row) for row in shown) == is_shown


def test_an_epoch_that_is_judged_is_shown_with_its_result(capsys):
    images, labels = dark_and_light(24, np.random.default_rng(0))
    model, pair = tinyvit.preset("nano/4", 8, 2, threads=1), (images[:8], labels[:8])
    model.fit(images, labels, epochs=2, batch_size=8, validation=pair, progress=True)
    shown = capsys.readouterr().out.splitlines()
    for row, known in zip(shown, model.history, strict=True):
        assert f"epoch {known['epoch']}/2  loss" in row
        assert f"validation {percent(known['validation_accuracy'])}" in row


def test_an_error_in_training_begins_on_a_line_of_its_own(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(loop.Trainer, "_finish_epoch", interrupt)
    monkeypatch.setattr("sys.stdout", stream := Stream(True))
    images, labels = dark_and_light(24, np.random.default_rng(0))
    model = tinyvit.preset("nano/4", 8, 2, threads=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(images, labels, batch_size=8)
    assert "3/3" in screen(stream.text, 80)[0] and screen(stream.text, 80)[1:] == [""]


def test_a_new_head_can_have_the_names_of_its_classes(model, images):
    pets = model.with_new_head(["cat", "dog", "owl"])
    assert pets.fit(images, ["owl"] * len(images), epochs=3, lr=0.01).predict(images[0]) == "owl"
    assert model.with_new_head(3).names == ("class 0", "class 1", "class 2")
    with pytest.raises(UserError, match="two classes are called 'cat'"):
        model.with_new_head(["cat", "cat"])


def test_the_number_of_threads_is_that_of_the_model(model):
    images, labels = dark_and_light(4, np.random.default_rng(0))
    with pytest.raises(UserError, match=r"set model\.threads"):
        model.fit(images, labels, epochs=1, threads=2)


def test_a_file_is_fitted_and_pixels_are_resized_as_they_are(model, tmp_path):
    """A bright edge is cut off where a wide file covers the model's images, and stays as pixels."""
    pixels = np.zeros((8, 16, 3), np.uint8)
    pixels[:, 12:] = 255
    Image.fromarray(pixels).save(tmp_path / "wide.png")
    np.testing.assert_array_equal(model.logits(tmp_path / "wide.png"), model.logits(pixels[:, 4:12]))
    assert not np.allclose(model.logits(pixels), model.logits(pixels[:, 4:12]), atol=1e-3)


def test_training_works_outside_the_main_thread():
    images, labels = dark_and_light(20, np.random.default_rng(0))
    model, failures = tinyvit.preset("nano/4", 8, 2, threads=1), []

    def work():
        try:
            model.fit(images, labels, epochs=1, batch_size=10)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures
    assert model.params["head.weight"].any()


@pytest.mark.parametrize("name", ["model.npz", "folder"])
def test_a_saved_model_is_the_same_when_loaded(model, images, tmp_path, name):
    model.save(tmp_path / name)
    again = tinyvit.load(tmp_path / name, threads=1)
    assert again.classes == CLASSES
    np.testing.assert_allclose(again.logits(images), model.logits(images), rtol=1e-5, atol=1e-6)


def test_a_saved_model_fits_photos_as_the_library_did_that_it_is_from(model, tmp_path):
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (20, 40, 3), np.uint8)).save(tmp_path / "a.png")
    squashing = replace(model, photo_fit=PhotoFit("squash", (8, 8), (8, 8)), position_resize="bicubic")
    squashing.save(tmp_path / "m.npz")
    again = tinyvit.load(tmp_path / "m.npz")
    answers = [each.logits(tmp_path / "a.png") for each in (squashing, again, model)]
    assert np.array_equal(answers[0], answers[1]) and not np.allclose(answers[0], answers[2])
    larger = [each.at_resolution(16).params["position"] for each in (squashing, again, model)]
    assert np.array_equal(larger[0], larger[1]) and not np.allclose(larger[0], larger[2])


@pytest.mark.parametrize(
    ("name", "layout", "complaint"),
    [
        ("m.npz", "torch", "m.npz does not suit the layout torch, which is a file that ends in .safetensors"),
        ("m.safetensors", "official", "which is a file that ends in .npz: change one of them"),
        ("m", "tinyvit", "which is a file that ends in .npz"),
        ("m.npz", "hugging_face", "which is a folder, without an ending"),
        (
            "m.npz",
            "tflite",
            "there is no layout 'tflite': expected one of tinyvit, official, torch, onnx, hugging_face",
        ),
        ("m.pt", None, "expected .npz, .safetensors, .onnx, or no ending"),
    ],
)
def test_a_layout_and_an_ending_that_disagree_are_refused(model, tmp_path, name, layout, complaint):
    with pytest.raises(UserError, match=complaint):
        model.save(tmp_path / name, layout)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_loaded_by_its_folder(trained, photos):
    model = tinyvit.load(trained)
    assert model.classes == ("blue", "red")
    files = sorted((photos / "red").iterdir())
    assert (model.predict(files) == "red").mean() > 0.9


@pytest.mark.parametrize(
    ("images", "complaint"),
    [
        (np.zeros((0, 8, 8, 3), np.uint8), "there are no images"),
        (np.full((2, 8, 8, 3), -0.5, np.float32), "are float32 from -0.5 to -0.5, expected uint8 pixels"),
        (np.zeros((2, 8, 8, 4), np.uint8), r"shape \(2, 8, 8, 4\)"),
        (np.zeros((5, 8, 8, 2), np.uint8), r"shape \(5, 8, 8, 2\), expected \(n, height, width, 3\)"),
        ([], "there are no images"),
        ([np.zeros((8, 8, 3), np.uint8), np.zeros((4, 4, 3), np.uint8)], "differ in size or kind"),
        ([np.zeros((8, 8, 3), np.uint8), "a.png"], "differ in size or kind"),
        (None, "NoneType of object is not images: expected uint8 pixels"),
        (b"a.png", "the image cannot be read as an image"),
        (".", "is a folder, expected an image file: give a list"),
        ("nowhere.png", "nowhere.png does not exist"),
    ],
)
def test_anything_but_images_is_refused_clearly(model, images, complaint):
    with pytest.raises(UserError, match=complaint):
        model.predict(images)


def test_files_may_come_from_a_generator(model, images, tmp_path):
    for i, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"{i}.png")
    names = sorted(tmp_path.glob("*.png"))
    np.testing.assert_array_equal(model.logits(path for path in names), model.logits(names))


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([0], "2 images and 1 label: expected the same number"),
        ([[0], [1]], r"labels have shape \(2, 1\), expected one for each image"),
        (None, r"no labels: give one label for each image, or a part of a data set, such as shapes\.train\."),
        (1, r"labels have shape \(\), expected"),
        ([0.0, 1.0], "labels are float64, expected whole numbers from 0, or names"),
        (["dark", "grey"], "there is no class 'grey': the classes are dark, light"),
        ([["dark"], ["dark", "light"]], "the labels are sequences of several lengths, expected one label"),
        (np.array([True, np.True_], object), "there is no class 'True'"),
        (np.array([0, 1], "M8[ns]"), "labels are datetime64.*, expected whole numbers from 0, or names"),
        (np.array([0, 1], "m8[ns]"), "labels are timedelta64.*, expected whole numbers from 0, or names"),
        (np.array([2**63, 0], np.uint64), "a label is 9223372036854775808, expected 0 to 1"),
    ],
)
def test_labels_that_do_not_fit_the_images_or_the_model_are_refused_clearly(model, labels, complaint):
    with pytest.raises(UserError, match=complaint):
        model.fit(np.zeros((2, 8, 8, 3), np.uint8), labels)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"classes": "cat"}, "classes is 'cat', expected how many there are, or a list of their names"),
        ({"classes": 2.5}, "classes is 2.5, expected"),
        ({"classes": ["a", "a"]}, "two classes are called 'a'"),
        ({"classes": ["a"]}, "'a' is the only class: name at least two"),
        ({"channels": 1}, "channels is 1, expected 3"),
        ({"classes": {"a"}}, "classes is {'a'}, expected how many there are, or a list"),
        ({"classes": {0: "a", 1: "b"}}, "classes is {0: 'a', 1: 'b'}, expected how many there are"),
        ({"classes": True}, "classes is True, expected how many"),
        ({"classes": np.arange(4).reshape(2, 2)}, r"classes is array\(.*, expected how many"),
        ({"classes": np.array(3)}, r"classes is array\(3\), expected how many"),
        ({"classes": [np.arange(2), np.arange(2)]}, r"a class is called array\(\[0, 1\]\), expected text"),
        ({"classes": [1, 0]}, "a class is called 1, expected text: labels that are numbers count from 0"),
        ({"classes": ["a", None]}, "a class is called None, expected text"),
        *(
            ({"classes": ["a", name]}, "a class is called '.*', expected a name that")
            for name in ("", "b\tc")
        ),
        ({"seed": -1}, "seed is -1, expected"),
        ({"threads": 0}, "threads is 0, expected a whole number from 1 to 256"),
        ({"init": "mimic"}, "init is 'mimic', expected one of official, mimetic"),
    ],
)
def test_an_impossible_preset_is_refused_clearly(arguments, complaint):
    with pytest.raises(UserError, match=complaint):
        tinyvit.preset("nano/4", 8, **({"classes": 2} | arguments))


def test_a_preset_may_start_with_mimetic_attention():
    one, other = (tinyvit.preset("nano/4", 8, 2, seed=3, init=init) for init in ("official", "mimetic"))
    np.testing.assert_array_equal(other.params.flat, initialise(one.config, 3, init="mimetic").flat)
    assert (one.params["position"] != other.params["position"]).any()


def test_a_model_is_whitened_for_its_images_on_any_device(gpu):
    images, _ = dark_and_light(40, np.random.default_rng(0), side=16)  # larger than the model's
    model = tinyvit.preset("nano/4", 8, CLASSES, threads=1)
    there = tinyvit.preset("nano/4", 8, CLASSES, threads=1).to(gpu)
    assert model.whiten(images) is model
    there.whiten(images)
    np.testing.assert_allclose(there.params.flat.get(), model.params.flat, rtol=1e-5, atol=1e-6)
    patches, _ = patchify(to_input(images, np.dtype("float32"), (8, 8)), 4)
    y = patches.reshape(-1, 48) @ model.params["patch.weight"] + model.params["patch.bias"]
    np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.corrcoef(y[:, :48].T), np.eye(48), atol=1e-2)


def test_the_seed_chooses_the_images_to_whiten_for_if_there_are_very_many():
    images = np.random.default_rng(0).integers(0, 256, (5_002, 4, 4, 3), dtype=np.uint8)
    one, again, other = (
        tinyvit.preset("nano/4", 4, 2, threads=1).whiten(images, seed=seed).params.flat for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_a_model_without_a_head_has_no_answers(model, images):
    """A file of weights without one is given a single class, with weights of zero."""
    headless = model.with_new_head(1)
    for ask in (headless.predict, headless.probabilities, lambda x: headless.fit(x, [0] * len(x))):
        with pytest.raises(
            UserError, match="no head and therefore no classes: give it two or more with with_new_head"
        ):
            ask(images)
    assert headless.features(images).shape == model.features(images).shape


def test_images_of_another_shape_survive_a_hugging_face_folder(tmp_path):
    model = tinyvit.preset("nano/8", (32, 64), ["a", "b", "c"], gelu="exact")
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (100, 100, 3), np.uint8)).save(
        tmp_path / "a.png"
    )
    model.save(tmp_path / "folder")
    again = tinyvit.load(tmp_path / "folder")
    views = [each._photo(tmp_path / "a.png").astype(int) for each in (model, again)]
    assert views[0].shape == (32, 64, 3)
    assert np.abs(views[0] - views[1]).max() <= 1


def test_the_official_layout_is_not_for_images_that_are_not_square(tmp_path):
    model = tinyvit.preset("nano/8", (16, 64), 3)
    with pytest.raises(UserError, match="images are 16 x 64 pixels: its readers take them for square ones"):
        model.save(tmp_path / "a.npz", layout="official")
    assert not (tmp_path / "a.npz").exists()


def test_how_many_classes_there_are_may_be_a_number_of_numpy():
    assert tinyvit.preset("nano/4", 8, np.int64(3)).config.classes == 3


def test_unknown_words_are_refused_clearly(model, tmp_path):
    model.save(tmp_path / "m.npz")
    with pytest.raises(UserError, match="device is 'cuda', expected 'auto', 'cpu' or 'gpu'"):
        tinyvit.load(tmp_path / "m.npz", device="cuda")
    for device in ("cuda", 0, None):
        with pytest.raises(UserError, match=f"device is {device!r}, expected 'auto', 'cpu' or 'gpu'"):
            model.to(device)
    for count in (0, -1, 2.5, "all"):
        with pytest.raises(UserError, match=f"count is {count!r}, expected a whole number, 1 or more"):
            model.filters(count)
    with pytest.raises(UserError, match="block is 'first', expected a number from 0"):
        model.position_similarity("first")
    with pytest.raises(UserError, match="with position none, no vector belongs to a patch"):
        tinyvit.preset("resnet-nano", 32, 2).position_similarity(1)
    with pytest.raises(UserError, match="checkpoint is 'first', expected 'best' or 'last'"):
        tinyvit.load(tmp_path / "m.npz", checkpoint="first")
    with pytest.raises(UserError, match="position_resize is 'cubic', expected one of corners"):
        model.at_resolution(16, "cubic")
    with pytest.raises(UserError, match="threads is -1, expected"):
        tinyvit.load(tmp_path / "m.npz", threads=-1)


def test_a_gpu_that_cannot_be_used_is_warned_of(model, monkeypatch):
    missing = Device(np, "NumPy", "no GPU is used: there is none. NumPy is used instead.")
    monkeypatch.setattr("tinyvit.api.select_device", lambda name: missing)
    with pytest.warns(UserWarning, match="no GPU is used: there is none") as caught:
        assert model.to("gpu") is model
    assert caught[0].filename == __file__


@pytest.mark.parametrize("labels", [[0, 2], [-1, 0]])
def test_labels_out_of_range_are_refused_clearly(model, labels):
    with pytest.raises(UserError, match=r"a label is (2|-1), expected 0 to 1"):
        model.fit(np.zeros((2, 8, 8, 3), np.uint8), labels)


def test_the_functions_below_refuse_what_would_be_silently_wrong(model, images):
    x, grads = normalise(images, np.dtype("float32")), model.params.zeros_like()
    with pytest.raises(ValueError, match=r"uint8, expected normalised pixels"):
        forward(model.config, model.params, images)
    with pytest.raises(ValueError, match="at least one image"):
        forward(model.config, model.params, x[:0])
    for labels in ([0, 1, 2, 0, 0, 0], [0, -1, 0, 0, 0, 0]):
        with pytest.raises(ValueError, match="expected 0 to 1"):
            loss_and_grads(model.config, model.params, x, np.array(labels), grads)
    with pytest.raises(ValueError, match="targets have shape"):
        loss_and_grads(model.config, model.params, x, np.array([0, 1]), grads)


def test_a_copied_or_pickled_model_is_independent(model, images):
    before = model.logits(images)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.logits(images), before)
        twin.params["head.bias"] += 1
        np.testing.assert_array_equal(twin.params.flat[-2:], twin.params["head.bias"])
    np.testing.assert_array_equal(model.logits(images), before)


def test_a_model_keeps_its_engine(model, images):
    model.logits(images)
    engine = model.engine()
    model.features(images)
    assert model.engine() is engine


@pytest.mark.parametrize("what", ["threads", "params", "config", "process"])
def test_a_model_whose_parts_are_replaced_has_another_engine(model, images, monkeypatch, what):
    before, engine = model.logits(images), model.engine()
    if what == "threads":
        model.threads = 2
    elif what == "params":
        model.params = model.params.zeros_like()
    elif what == "config":
        model.config = replace(model.config, gelu="exact")
    else:  # as in a forked process, which has none of the threads
        monkeypatch.setattr("tinyvit.api.os.getpid", lambda: -1)
    assert model.engine() is not engine
    assert model.engine().threads == (2 if what == "threads" else 1)
    same = np.allclose(model.logits(images), before, rtol=1e-5, atol=1e-6)
    assert same == (what in ("threads", "process"))


def test_the_engine_is_not_copied_with_its_model(model, images, gpu):
    model.logits(images)
    copies = copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))
    for twin in (*copies, replace(model, threads=2), model.to(gpu)):
        assert twin.engine() is not model.engine()
        np.testing.assert_allclose(twin.logits(images), model.logits(images), rtol=1e-5, atol=1e-6)


def test_repr_counts_one_layer_as_one_and_says_if_there_is_no_head():
    assert "1 layer, width 64, 4 heads" in repr(tinyvit.preset("nano/4", 8, 1, layers=1))
    assert ", no head, " in repr(tinyvit.preset("nano/4", 8, 1))


def test_repr_describes_the_model(model):
    assert repr(model) == (
        "Model(4 layers, width 64, 4 heads, patches of 4 x 4, images of 8 x 8, 2 classes, "
        f"{model.params.count:,} parameters)"
    )


def test_another_resolution_is_another_model(model):
    larger = model.at_resolution(16)
    assert (larger.config.image_size, model.config.image_size) == ((16, 16), (8, 8))
    assert larger.predict(np.zeros((1, 16, 16, 3), np.uint8)).shape == (1,)
    assert isinstance(larger, tinyvit.Model)
    assert larger.classes == CLASSES


def test_a_missing_image_is_told_without_the_exceptions_that_led_there(model):
    with pytest.raises(UserError, match=r"a\.png does not exist, expected an image file\.") as caught:
        model.predict("a.png")
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
