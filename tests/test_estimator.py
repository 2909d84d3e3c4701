"""ViTClassifier keeps scikit-learn's conventions, whether or not it is installed."""

import copy
import pickle
import sys
import warnings
from decimal import Decimal

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.support.shell.terminal import Stream
from tests.test_api import dark_and_light
from tinyvit import ViTClassifier

NAMES = np.array(["moon", "sun"])


@pytest.fixture(scope="module")
def fitted():
    images, labels = dark_and_light(60, np.random.default_rng(0))
    return ViTClassifier(epochs=20, batch_size=20, threads=1).fit(images, NAMES[labels])


def test_patches_of_0_pixels_are_refused():
    with pytest.raises(ValueError, match="0"):
        ViTClassifier("nano", patch_size=0).fit(np.zeros((4, 8, 8), np.uint8), [0, 1, 0, 1])


def test_it_learns_labels_of_any_kind(fitted):
    images, labels = dark_and_light(40, np.random.default_rng(1))
    assert fitted.classes_.tolist() == ["moon", "sun"]
    assert fitted.predict(images).tolist() == NAMES[labels].tolist()
    assert fitted.score(images, NAMES[labels]) == 1
    assert fitted.score(images, NAMES[1 - labels]) == 0


def test_probabilities_belong_to_the_classes_in_their_order(fitted):
    images, labels = dark_and_light(40, np.random.default_rng(1))
    p = fitted.predict_proba(images)
    assert p.shape == (40, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (p.argmax(axis=1) == labels).all()


def test_epochs_are_what_was_asked_for_and_by_default_make_enough_updates(fitted, monkeypatch):
    assert fitted.n_iter_ == len(fitted.losses_) == 20
    assert fitted.losses_[-1] < fitted.losses_[0]
    asked = []
    monkeypatch.setattr(
        "tinyvit.training.fit.fit", lambda *args, **settings: asked.append(settings["epochs"])
    )
    for epochs, batch_size in ((1, 20), (None, 20), (None, 1), (None, 50)):
        images, labels = dark_and_light(110, np.random.default_rng(0))
        ViTClassifier(epochs=epochs, batch_size=batch_size, threads=1).fit(images, labels)
    assert asked == [1, 200, 10, 500]  # of 5, 110 and 2 updates: the first that make 10 passes and 1,000


@pytest.mark.parametrize(("features", "shape"), [(64, (8, 8)), (12, (1, 12)), (10, (1, 10)), (2, (1, 2))])
def test_rows_of_pixels_are_laid_out_as_images(features, shape):
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.normal(size=(40, features)) + 4 * labels[:, None]
    classifier = ViTClassifier(epochs=40, batch_size=20, threads=1).fit(X, labels)
    assert classifier.model_.config.image_size == shape
    assert classifier.n_features_in_ == features
    assert classifier.score(X, labels) == 1


PLANES = {"channels": "first"}


@pytest.mark.parametrize(
    ("features", "settings", "complaint"),
    [
        (144, {}, r"may be colour images: give image_shape=\(12, 12\) if they are grey, or .*\(6, 8, 3\)"),
        (48 * 48, {}, r"image_shape=\(48, 48\) if they are grey, or for example \(24, 32, 3\)"),
        (480 * 480, {}, r"or for example \(240, 320, 3\)"),
        (192, {}, r"image_shape=\(8, 8, 3\), perhaps with channels='first' as for the rows of CIFAR"),
        (3072, {}, r"rows of 3072 numbers, .*image_shape=\(32, 32, 3\)"),
        (192, {"image_shape": (8, 9, 3)}, r"image_shape is \(8, 9, 3\), but X has rows of 192: expected"),
        (192, {"image_shape": (3, 8, 8)}, "if channels is 'first'"),
        (
            192,
            {"image_shape": (8, 8)},
            r"is \(8, 8\), but X has rows of 192: expected .*, 3\), or",
        ),
        (128, {"image_shape": (8, 8)}, r"image_shape is \(8, 8\), but"),
        (128, {"image_shape": (8, 8, 2)}, "expected .height, width.*3"),
        (192, {"image_shape": 64}, "image_shape is 64, but"),
        (192, {"image_shape": (8.0, 8.0)}, "but X has rows of 192"),
        (192, {"image_shape": (-8, -8)}, "but X has rows of 192"),
        (192, {"channels": "planes"}, "channels is 'planes', expected 'first' or 'last'"),
    ],
)
def test_rows_that_may_be_several_things_are_refused(features, settings, complaint):
    rows = np.random.default_rng(0).random((4, features))
    with pytest.raises(ValueError, match=complaint):
        ViTClassifier(threads=1, **settings).fit(rows, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (lambda x: x.reshape(len(x), -1), {"image_shape": (6, 8, 3)}),
        (lambda x: x.reshape(len(x), -1), {"image_shape": [6, 8, 3]}),
        (lambda x: x.transpose(0, 3, 1, 2).reshape(len(x), -1), {"image_shape": (6, 8, 3)} | PLANES),
        (lambda x: x.transpose(0, 3, 1, 2).reshape(len(x), -1), {"image_shape": (3, 6, 8)} | PLANES),
        (lambda x: x.transpose(0, 3, 1, 2).reshape(len(x), -1), {"image_shape": (6, 8)} | PLANES),
        (lambda x: x.transpose(0, 3, 1, 2), PLANES),
        (list, {}),
    ],
)
def test_image_shape_and_channels_say_what_rows_and_planes_are(given, settings):
    images, labels = dark_and_light(12, np.random.default_rng(0))
    images = images[:, :6]
    usual = ViTClassifier(epochs=1, threads=1).fit(images, labels)
    told = ViTClassifier(epochs=1, threads=1, **settings).fit(given(images), labels)
    assert told.model_.config.image_size == (6, 8)
    np.testing.assert_array_equal(told.predict_proba(given(images)), usual.predict_proba(images))


def test_grey_rows_and_planes_are_grey_images():
    images, labels = np.random.default_rng(0).integers(0, 256, (12, 6, 8), np.uint8), np.arange(12) % 2
    usual = ViTClassifier(epochs=1, threads=1).fit(images, labels)
    for given, settings in (
        (images.reshape(12, -1), {"image_shape": (6, 8)}),
        (images.reshape(12, -1), {"image_shape": (1, 6, 8)} | PLANES),
        (images[:, None], PLANES),
        (images[..., None], {}),
    ):
        told = ViTClassifier(epochs=1, threads=1, **settings).fit(given, labels)
        np.testing.assert_array_equal(told.predict_proba(given), usual.predict_proba(images))
    np.testing.assert_array_equal(usual.predict(images.reshape(12, -1)), usual.predict(images))


def test_long_rows_that_are_not_squares_are_said_to_be_one_line():
    rows = np.random.default_rng(0).random((4, 12 * 8 * 3))  # 3:2
    with pytest.warns(
        UserWarning, match=r"each is taken for one line of pixels, as with image_shape=\(1, 288"
    ):
        ViTClassifier("nano", epochs=1, threads=1).fit(rows, [0, 1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        line = ViTClassifier("nano", epochs=1, threads=1, image_shape=(1, 288)).fit(rows, [0, 1, 0, 1])
        line.predict(rows)


@pytest.mark.parametrize("state", [int, np.int64, np.random.RandomState])
def test_the_same_random_state_gives_the_same_model(state):
    images, labels = dark_and_light(20, np.random.default_rng(0))

    def scores(seed):
        settings = {"epochs": 1, "batch_size": 1, "threads": 1, "random_state": seed}
        return ViTClassifier(**settings).fit(images, labels).predict_proba(images)

    np.testing.assert_array_equal(scores(state(1)), scores(state(1)))
    assert (scores(state(1)) != scores(state(2))).any()
    assert (scores(None) != scores(None)).any()


def test_settings_are_read_and_set_by_name():
    classifier = ViTClassifier(model="micro", lr=0.01)
    assert classifier.get_params()["model"] == "micro"
    assert classifier.set_params(epochs=3) is classifier
    assert classifier.epochs == 3
    assert ViTClassifier(**classifier.get_params()).get_params() == classifier.get_params()
    assert repr(classifier) == "ViTClassifier(model='micro', epochs=3, lr=0.01)"
    assert repr(pickle.loads(pickle.dumps(classifier))) == repr(classifier)
    assert repr(classifier.set_params(flip=0, epochs=None)) == "ViTClassifier(model='micro', lr=0.01, flip=0)"
    with pytest.raises(ValueError, match="'epoch'"):
        classifier.set_params(epoch=3)


def test_training_is_silent_unless_it_is_to_be_verbose(monkeypatch):
    images, labels = dark_and_light(20, np.random.default_rng(0))
    for verbose, rows in ((False, 0), (True, 2)):
        monkeypatch.setattr("sys.stdout", stream := Stream(True))
        ViTClassifier(epochs=2, batch_size=20, threads=1, verbose=verbose).fit(images, labels)
        assert stream.text.count("\n") == rows


class Hasty(ViTClassifier):
    def __init__(self, epochs=1, haste=3, *, lr=None):
        super().__init__(epochs=epochs, lr=lr)
        self.haste = haste


def test_the_settings_of_a_subclass_are_those_of_its_own_constructor():
    classifier = Hasty(haste=5)
    assert classifier.get_params() == {"epochs": 1, "haste": 5, "lr": None}
    assert repr(classifier) == "Hasty(haste=5)"
    assert classifier.set_params(epochs=2).epochs == 2
    with pytest.raises(ValueError, match=r"'flip' for estimator Hasty.*: expected one of epochs, haste, lr"):
        classifier.set_params(flip=True)


def list_in_objects(images):
    """As pandas holds images in a column."""
    column = np.empty(len(images), object)
    column[:] = list(images)
    return column


@pytest.mark.parametrize(
    ("X", "y", "complaint"),
    [
        (np.zeros((2, 8, 8, 3), np.uint8), [0], "2 images, y has 1"),
        (np.zeros((2, 8, 8, 3), np.uint8), [1, 1], "only one class"),
        (np.full((2, 8, 8, 3), np.nan), [0, 1], "NaN"),
        (np.zeros((0, 8, 8, 3), np.uint8), [], "0 sample"),
        (np.zeros((2, 8, 8, 4), np.uint8), [0, 1], "expected"),
        (np.zeros((2, 8, 8, 3), np.uint8), [0.5, 0.7], "not measurements"),
        (np.zeros((2, 8, 8, 3), np.uint8), np.array([0.5, 2], object), "not measurements"),
        (np.zeros((2, 8, 8, 3), np.uint8), np.array([1, np.nan], object), "y contains NaN"),
        (np.zeros((2, 8, 8, 3), np.uint8), ["a", np.nan], "y contains NaN: leave out the images without"),
        ((image for image in np.zeros((2, 8, 8))), [0, 1], "X is one generator, expected an array of images"),
        (
            np.zeros((2, 8, 8, 3), np.uint8),
            np.array(["sun", None]),
            "sorted, of type NoneType, str. Expected",
        ),
        (
            [np.zeros((8, 8)), np.zeros((8, 9))],
            [0, 1],
            "X makes no array of numbers: expected one, of images",
        ),
        (list_in_objects(np.zeros((2, 8, 8))), [0, 1], "A column of arrays becomes one with numpy.stack"),
        ([[10**400, 1], [0, 1]], [0, 1], "X holds a number that is too large: scale X"),
        (
            np.zeros((2, 8, 8), np.uint8),
            [[0], [1, 2]],
            "y cannot be turned into an array: expected one label",
        ),
        (np.zeros((2, 8, 8), np.uint8), [Decimal("nan"), Decimal(1)], "sorted, of type Decimal. Expected"),
        (
            np.zeros((2, 8, 8), np.uint8),
            np.array(["NaT", "2020"], "M8[Y]"),
            "y contains NaN, NaT or infinity",
        ),
    ],
)
def test_what_cannot_be_learned_is_a_value_error(X, y, complaint):
    with pytest.raises(ValueError, match=complaint):
        ViTClassifier(threads=1).fit(X, y)


@pytest.mark.parametrize("wrong", [{"a": 1}, [1], 1j])
def test_an_object_that_is_no_number_is_a_type_error_as_scikit_learn_wants_it(wrong):
    X = np.zeros((2, 64), object)
    X[0, 0] = wrong
    with pytest.raises((TypeError, ValueError), match=r"^X .*expected"):
        ViTClassifier(threads=1).fit(X, [0, 1])


def test_asking_before_fitting_and_asking_about_other_images(fitted):
    with pytest.raises(ValueError, match="not fitted"):
        ViTClassifier().predict(np.zeros((1, 8, 8, 3), np.uint8))
    with pytest.raises(ValueError, match="is expecting 192 features"):
        fitted.predict(np.zeros((1, 16, 16, 3), np.uint8))


def test_pixels_after_fitting_on_bytes_are_bytes_whatever_their_dtype(fitted):
    images, _ = dark_and_light(6, np.random.default_rng(1))
    for same in (images.astype("int64"), images.astype("float64"), images / 255):
        np.testing.assert_array_equal(fitted.predict_proba(same), fitted.predict_proba(images))
    for wrong in (images.astype(int) - 1, images.astype(int) + 200, images / 127.5 - 1, images * 0.7):
        with pytest.raises(ValueError, match=r"the pixels of X are .*, expected uint8 pixels from 0 to 255"):
            fitted.predict(wrong)


def test_after_fitting_on_scaled_pixels_unscaled_ones_are_refused():
    images, labels = dark_and_light(20, np.random.default_rng(0))
    classifier = ViTClassifier(epochs=1, threads=1).fit(images / 255, labels)
    p = classifier.predict_proba(images / 255)
    np.testing.assert_allclose(classifier.predict_proba((images / 255)[:1]), p[:1], rtol=1e-14)
    for wrong in (images, images.astype("float64")):
        with pytest.raises(ValueError, match=r"X holds values from .* fitted on values from .* to"):
            classifier.predict(wrong)
    classifier.predict(np.zeros((1, 8, 8, 3)))  # black, whatever the scale


@pytest.mark.parametrize(
    ("size", "name"),
    [
        ((8, 8), "nano/4"),
        ((28, 28), "nano/14"),
        ((16, 64), "nano/8"),
        ((32, 32), "nano/8"),
        ((224, 224), "nano/16"),
        ((1, 10), "nano/1"),
    ],
)
def test_patches_are_large_but_enough_to_tell_places_apart(size, name):
    assert ViTClassifier()._model_name(*size) == name


def test_images_of_another_shape_are_refused_even_with_as_many_pixels(fitted):
    images, _ = dark_and_light(4, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"X has images of 4 x 16, but .* fitted on images of 8 x 8"):
        fitted.predict(images.reshape(4, 4, 16, 3))
    with pytest.raises(ValueError, match=r"fitted on colour images: expected images, or image_shape"):
        fitted.predict(images.reshape(4, -1))
    for one in (images[0], images[0].transpose(2, 0, 1), images[0].ravel()[:, None]):
        with pytest.raises(ValueError, match=r"expecting 192 features as input: give one image as X\[None"):
            fitted.predict(one)
    with pytest.raises(ValueError, match=r"\(1, 3, 8, 8\), expected .* if channels is 'first'"):
        fitted.predict(images[:1].transpose(0, 3, 1, 2))
    told = copy.copy(fitted).set_params(image_shape=(8, 8, 3))
    np.testing.assert_array_equal(told.predict_proba(images.reshape(4, -1)), fitted.predict_proba(images))


def test_a_score_needs_labels_of_the_type_that_was_learned(fitted):
    images, labels = dark_and_light(4, np.random.default_rng(1))
    with pytest.raises(
        ValueError, match=r"y holds \d, but .* on labels such as 'moon': expected labels of the same"
    ):
        fitted.score(images, labels)
    assert fitted.score(images, NAMES[labels].astype(object)) == 1
    assert fitted.score(images, ["comet"] * 4) == 0


@pytest.mark.parametrize("y", [[b"0"] * 4, [None] * 4, np.zeros(4, "M8[D]"), np.zeros(4, "M8[ns]")], ids=repr)
def test_whole_numbers_are_no_labels_of_other_types(fitted, y):
    images, labels = dark_and_light(4, np.random.default_rng(1))
    numbered = copy.copy(fitted)
    numbered.classes_ = np.array([0, 1])
    assert numbered.score(images, labels == 1) == 1
    with pytest.raises(ValueError, match="on labels such as 0: expected labels of the same type"):
        numbered.score(images, y)


def test_a_score_may_weigh_the_images(fitted):
    images, labels = dark_and_light(4, np.random.default_rng(1))
    y = NAMES[np.where(np.arange(4) == 0, 1 - labels, labels)]  # only the first is wrong
    assert fitted.score(images, y) == 0.75
    assert fitted.score(images, y, sample_weight=[7, 1, 1, 1]) == pytest.approx(0.3)
    for wrong in ([1, 1], [0] * 4, ["a"] * 4, [1, 1, 1, -1], [[1]] * 4, [1, 1, 1, np.inf]):
        with pytest.raises(
            ValueError, match=r"sample_weight is .*, expected a number, 0 or more, for each of 4"
        ):
            fitted.score(images, y, sample_weight=wrong)


def test_as_many_labels_as_images_are_needed_for_a_score(fitted):
    images, _ = dark_and_light(4, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"X has 4 images, y has shape \(3,\)"):
        fitted.score(images, NAMES[[0, 1, 0]])


def test_a_column_of_labels_is_scored_as_it_is_learned(fitted):
    images, labels = dark_and_light(4, np.random.default_rng(1))
    with pytest.warns(match="column-vector"):
        assert fitted.score(images, NAMES[labels].reshape(-1, 1)) == 1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"batch_size": 0}, "batch_size is 0, expected"),
        ({"epochs": -1}, "epochs is -1, expected"),
        ({"early_stopping": True, "n_iter_no_change": 0}, "n_iter_no_change is 0, expected"),
        ({"early_stopping": True, "n_iter_no_change": None}, "n_iter_no_change is None, expected a whole"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction is 1.0, expected"),
        ({"weights": "nowhere"}, "nowhere"),
        ({"threads": -1}, "threads is -1, expected"),
        ({"lr": -1}, "lr is -1, expected"),
        ({"augment_ops": 10**6}, "augment_ops is 1000000, expected a whole number from 1 to 16"),
        ({"random_state": "lucky"}, "random_state is 'lucky', expected a whole number"),
        ({"init": "mimic"}, "init is 'mimic', expected one of official, mimetic"),
        ({"whiten": "no"}, "whiten is 'no', expected true or false"),
        ({"random_state": -1}, "random_state is -1, expected a whole number, 0 or more"),
        ({"patch_size": 3}, "patch_size is 3, expected a whole number that divides both sides of images of"),
    ],
)
def test_settings_that_cannot_be_are_a_value_error_too(settings, complaint):
    images, labels = dark_and_light(4, np.random.default_rng(0))
    with pytest.raises(ValueError, match=complaint):
        ViTClassifier(**settings).fit(images, labels)


def test_a_fit_that_fails_leaves_the_classifier_as_it_was(fitted):
    images, labels = dark_and_light(6, np.random.default_rng(1))
    twin = copy.deepcopy(fitted)
    with pytest.raises(ValueError, match="smoothing is 2"):
        twin.set_params(smoothing=2).fit(images[:, :4] / 255, labels)
    assert twin.predict(images).tolist() == NAMES[labels].tolist()
    assert (twin.n_features_in_, twin.n_iter_, twin.losses_) == (192, 20, fitted.losses_)


@pytest.mark.parametrize("dtype", [None, object])
def test_names_whose_accents_are_written_in_two_ways_are_one_class(dtype):
    composed, split = "caf\u00e9", "cafe\u0301"
    images, labels = dark_and_light(20, np.random.default_rng(0))
    y = np.array([((composed, split)[i % 3 > 0], "tea")[c] for i, c in enumerate(labels)], dtype)
    classifier = ViTClassifier(epochs=1).fit(images, y)
    assert classifier.classes_.tolist() == [composed, "tea"]
    assert (
        classifier.score(images, y)
        == (classifier.predict(images) == np.array([composed, "tea"])[labels]).mean()
    )
    classifier = ViTClassifier(class_weight={split: 2.0}, epochs=1)
    classifier.partial_fit(images, y, classes=[split, "tea"]).partial_fit(images, y, classes=["tea", split])
    assert classifier.classes_.tolist() == [composed, "tea"]


def test_labels_that_are_no_names_for_classes_are_learned_all_the_same():
    images, labels = dark_and_light(20, np.random.default_rng(0))
    for odd in (["", "sun"], ["new\nmoon", "sun"]):
        classifier = ViTClassifier(epochs=40, threads=1).fit(images, np.array(odd)[labels])
        assert classifier.predict(images[:2]).tolist() == odd


def test_a_copy_is_independent(fitted):
    images, _ = dark_and_light(4, np.random.default_rng(1))
    twin = copy.deepcopy(fitted)
    twin.model_.params.flat[...] = 0
    assert fitted.predict(images).tolist() == ["moon", "sun"] * 2


def overlapping(count=120, share=0.1):
    """Noise, a little lighter for one class, which is the rarer one: few images tell for certain."""
    rng = np.random.default_rng(3)
    labels = (np.arange(count) < share * count).astype(int)
    pixels = rng.integers(0, 200, (count, 8, 8, 3)) + 8 * labels[:, None, None, None]
    return pixels.astype(np.uint8), labels


def said_to_be_rare(class_weight=None, sample_weight=None):
    images, labels = overlapping()
    settings = {"epochs": 3, "batch_size": 20, "threads": 1, "lr": 0.003}
    classifier = ViTClassifier(class_weight=class_weight, **settings)
    classifier.fit(images, NAMES[labels], sample_weight=sample_weight)
    noise = np.random.default_rng(4).integers(0, 200, (100, 8, 8, 3), dtype=np.uint8)
    return classifier.predict_proba(noise)[:, 1].mean()


def test_weights_of_classes_and_of_images_move_what_is_predicted():
    _, labels = overlapping()
    plain, counts = said_to_be_rare(), np.where(labels, 9.0, 1.0)
    balanced = said_to_be_rare("balanced")
    assert 1.3 * plain < balanced  # what is so rare is soon known by heart
    assert said_to_be_rare({"sun": 9}) == said_to_be_rare(None, counts) == balanced
    assert said_to_be_rare({"sun": 1 / 9}, counts) == plain  # all weigh alike
    assert said_to_be_rare({"sun": 100}) > 0.8


def test_images_without_weight_might_as_well_not_be_there():
    images, labels = dark_and_light(20, np.random.default_rng(0))
    weights = np.where(np.arange(20) < 14, 1, 0)
    settings = {"epochs": 2, "batch_size": 5, "threads": 1}
    one = ViTClassifier(**settings).fit(images, labels, weights).predict_proba(images)
    other = ViTClassifier(**settings).fit(images[:14], labels[:14]).predict_proba(images)
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="only one class"):
        ViTClassifier(**settings).fit(images, labels, labels)


@pytest.mark.parametrize("settings", [{}, {"early_stopping": True}, {"class_weight": "balanced"}])
def test_a_class_whose_images_have_no_weight_remains_a_class(settings):
    images, labels = dark_and_light(30, np.random.default_rng(0))
    names = np.where(np.arange(30) % 3 == 0, "comet", NAMES[labels])
    classifier = ViTClassifier(epochs=1, threads=1, **settings)
    classifier.fit(images, names, sample_weight=(names != "comet") * 1.0)
    assert classifier.classes_.tolist() == ["comet", "moon", "sun"]
    assert classifier.predict_proba(images).shape == (30, 3)


@pytest.mark.parametrize("wrong", ["even", {"mars": 2}, {"sun": -1}, {"sun": "2"}, 3, {"sun": 0, "moon": 0}])
def test_a_class_weight_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=r"class_weight is .*, expected"):
        said_to_be_rare(wrong)


def test_it_stops_early_with_the_best_on_images_held_out(monkeypatch):
    given, real = [], tinyvit.Model.fit

    def noted(model, images, labels, **settings):
        given.append((len(images), np.bincount(settings["validation"][1]).tolist()))
        return real(model, images, labels, **settings)

    monkeypatch.setattr(tinyvit.Model, "fit", noted)
    images, labels = overlapping(100, share=0.5)
    settings = {"epochs": 40, "batch_size": 20, "threads": 1, "early_stopping": True, "n_iter_no_change": 3}
    classifier = ViTClassifier(validation_fraction=0.2, **settings).fit(images, labels)
    scores = classifier.validation_scores_
    assert given == [(80, [10, 10])]
    assert len(scores) == classifier.n_iter_ == len(classifier.losses_) < 40
    assert max(scores[-3:]) <= max(scores[:-3])
    again = ViTClassifier(validation_fraction=0.2, **settings).fit(images, labels)
    np.testing.assert_array_equal(again.predict_proba(images), classifier.predict_proba(images))
    monkeypatch.undo()
    assert ViTClassifier(epochs=1, threads=1).fit(images, labels).validation_scores_ is None


def noting():
    """A set, and an augmentation that changes nothing and notes in it what a model is shown."""
    seen = set()

    def noted(image, rng):
        seen.add(image.tobytes())
        return image

    return seen, noted


@pytest.mark.parametrize("state", [7, None, np.random.RandomState(3)])
def test_a_warm_start_is_judged_on_images_that_no_fit_has_learned_from(state):
    seen, noted = noting()
    images = np.random.default_rng(0).integers(0, 256, (60, 8, 8, 3), dtype=np.uint8)
    settings = {"epochs": 1, "crop_padding": 0, "augment": noted, "batch_size": 5, "threads": 1}
    settings |= {"early_stopping": True, "validation_fraction": 0.25}
    classifier = ViTClassifier(random_state=state, warm_start=True, **settings)
    for _ in range(4):
        classifier.fit(images, np.arange(60) % 2)
    assert len(seen) == 45


@pytest.mark.parametrize(("given", "size"), [(99, 50), (11, 10), (7, 50)])
def test_a_pass_over_a_piece_sees_nearly_all_of_it(given, size):
    seen, noted = noting()
    images = np.random.default_rng(0).integers(0, 256, (given, 8, 8, 3), dtype=np.uint8)
    classifier = ViTClassifier(batch_size=size, augment=noted, crop_padding=0, threads=1)
    classifier.partial_fit(images, np.arange(given) % 2, classes=[0, 1])
    assert len(seen) >= given - 1


def test_a_warm_start_goes_on_with_the_same_classes_and_images(fitted):
    images, labels = dark_and_light(20, np.random.default_rng(1))
    warm = copy.deepcopy(fitted).set_params(warm_start=True, epochs=1, lr=1e-12)
    before, once = fitted.predict_proba(images), warm.fit(images, NAMES[labels])
    np.testing.assert_allclose(once.predict_proba(images), before, atol=1e-5)
    assert (once.n_iter_, once.n_features_in_) == (1, 192)
    np.testing.assert_allclose(
        once.fit(images[:3], NAMES[labels[:3]]).predict_proba(images), before, atol=1e-5
    )
    for X, y, complaint in (
        (images, labels, "y holds 0, but .* labels such as 'moon'"),
        (images, np.where(labels, "sun", "mars"), "y holds .*mars.*, expected some of the classes"),
        (images[:, :4], NAMES[labels], "expecting 192 features"),
    ):
        with pytest.raises(ValueError, match=complaint):
            once.fit(X, y)
    cold = once.set_params(warm_start=False, lr=None).fit(images[:, :4], NAMES[labels])
    assert cold.n_features_in_ == 96


def test_it_learns_piece_by_piece():
    images, labels = dark_and_light(60, np.random.default_rng(0))
    classifier = ViTClassifier(batch_size=5, threads=1)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        classifier.partial_fit(images, labels)
    for k in range(12):
        piece = slice(5 * k, 5 * k + 5)
        only = np.flatnonzero(labels[piece] == k % 2)[: k % 3 + 1]  # one class at a time, or one image
        classifier.partial_fit(images[piece][only], NAMES[labels[piece][only]], classes=NAMES[::-1])
    assert classifier.classes_.tolist() == ["moon", "sun"]
    assert classifier.n_iter_ == len(classifier.losses_) == 12
    for _ in range(10):
        classifier.partial_fit(images, NAMES[labels])
    assert classifier.score(images, NAMES[labels]) == 1
    with pytest.raises(ValueError, match="but the model has"):
        classifier.partial_fit(images, NAMES[labels], classes=["moon", "sun", "star"])
    with pytest.raises(ValueError, match="partial_fit does not see all images"):
        ViTClassifier(class_weight="balanced").partial_fit(images, labels, classes=[0, 1])


@pytest.fixture
def weights(tmp_path):
    """A file of a model for images of 8 x 8, of three other classes."""
    tinyvit.preset("nano/4", 8, 3, seed=5).save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_it_starts_from_weights_with_a_new_head_and_the_settings_of_fine_tuning(weights, monkeypatch):
    given, real = [], tinyvit.Model.fit

    def noted(model, images, labels, **settings):
        given.append(
            settings | {"shape": images.shape, "head": float(np.abs(model.params["head.weight"]).max())}
        )
        return real(model, images, labels, **settings | {"epochs": 1})

    monkeypatch.setattr(tinyvit.Model, "fit", noted)
    images, labels = dark_and_light(30, np.random.default_rng(0))
    wide = np.repeat(np.repeat(images, 2, axis=1), 3, axis=2)  # 16 x 24
    part = {"freeze": "backbone", "layer_decay": 1.0}
    classifier = ViTClassifier(weights=weights, batch_size=10, threads=1, **part).fit(wide, NAMES[labels])
    start = tinyvit.load(weights)
    np.testing.assert_array_equal(
        classifier.model_.params["blocks.0.attn.qkv.weight"], start.params["blocks.0.attn.qkv.weight"]
    )
    assert classifier.model_.classes == ("moon", "sun")
    wanted = {
        "optimizer": "sgd",
        "lr": 0.01,
        "weight_decay": 0.0,
        "epochs": 167,
        "crop_padding": 0,
        "head": 0,
    }
    wanted |= {"shape": (30, 8, 8, 3), "freeze": "backbone"}
    assert {name: given[0][name] for name in wanted} == wanted
    assert classifier.predict_proba(wide).shape == (30, 2)
    with pytest.raises(ValueError, match="features"):
        classifier.predict(images)
    ViTClassifier(weights=weights, lora=2, lora_alpha=4.0, batch_size=10, threads=1).fit(wide, labels)
    wanted = {"optimizer": "adamw", "lr": 1e-3, "weight_decay": 0.0, "lora": 2, "lora_alpha": 4.0}
    assert {name: given[1][name] for name in wanted} == wanted


def test_photos_of_many_sizes_are_fitted_as_those_of_the_weights(weights, tmp_path):
    images, labels = dark_and_light(12, np.random.default_rng(0))
    photos = [Image.fromarray(image).resize((8 + i, 20)) for i, image in enumerate(images)]
    classifier = ViTClassifier(weights=weights, epochs=30, batch_size=4, lr=0.05, threads=1)
    assert classifier.fit(photos, labels).score(photos, labels) == 1
    seen = classifier.model_.probabilities(photos)
    np.testing.assert_allclose(classifier.predict_proba(photos), seen, atol=1e-4)
    warm = classifier.set_params(warm_start=True, epochs=1)
    assert warm.fit(photos[:4], labels[:4]).predict(photos).tolist() == labels.tolist()


@pytest.mark.parametrize("name", ["patch_size", "model", "whiten", "init"])
def test_what_weights_have_already_is_not_chosen(weights, name):
    value = {"patch_size": 4, "model": "micro", "whiten": True, "init": "mimetic"}[name]
    images, labels = dark_and_light(4, np.random.default_rng(0))
    with pytest.raises(ValueError, match=f"omit {name}, or weights"):
        ViTClassifier(weights=weights, **{name: value}).fit(images, labels)


def test_scikit_learn_finds_nothing_to_object_to():
    """By hand, where scikit-learn is installed: its own checks, all of them.

    One is expected to fail, as it is for scikit-learn's own BaggingClassifier: a weight of 2 is not to the
    last digit what two copies are, since training goes through images in a random order.
    """
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")
    random = {"check_sample_weight_equivalence_on_dense_data": "images come in a random order"}
    results = checks.check_estimator(
        ViTClassifier(epochs=6, lr=0.02, threads=1), on_fail=None, on_skip=None, expected_failed_checks=random
    )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed


def test_a_notebook_shows_scikit_learn_s_diagram_once_it_is_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    assert ViTClassifier()._repr_html_() is None
    monkeypatch.undo()
    pytest.importorskip("sklearn.utils", reason="scikit-learn is not installed")
    assert "ViTClassifier</div>" in ViTClassifier()._repr_html_()


def test_a_pipeline_of_scikit_learn_routes_weights_past_a_score():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    images, labels = dark_and_light(20, np.random.default_rng(0))
    rows = images.reshape(20, -1)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = ViTClassifier(epochs=40, threads=1, image_shape=(8, 8, 3))
        pipeline = make_pipeline(MinMaxScaler(), classifier).fit(rows, labels)
        assert pipeline.score(rows, labels) == 1
