"""Words: the tokenizer and the text tower against transformers; classes in words; gradients."""

import copy
import json
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

import tinyvit
from tests.golden.library_answers import HERE, error
from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import complaint
from tinyvit import predict
from tinyvit.gradcheck.finite_differences import gradient_error, numerical_gradient
from tinyvit.model import Params
from tinyvit.weights.text import (
    TextConfig,
    Tokenizer,
    embed_texts,
    embed_texts_backward,
    places_to_read,
    split_words,
    text_layout,
)
from tinyvit.weights.words import read_words, tokenizer_of, without_punctuation

FOLDER = HERE / "words"
CLASSES = ["a cat", "dog", "diagram of a ViT"]
IDS = json.loads((FOLDER / "ids.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.load(FOLDER)


@pytest.fixture(scope="module")
def model():
    return tinyvit.load(FOLDER)


@pytest.mark.parametrize("text", IDS)
def test_the_tokens_of_a_text_are_those_of_transformers(tokenizer, text):
    assert tokenizer.encode(text, 20) == IDS[text]


def test_words_are_letters_single_digits_other_signs_and_short_forms():
    assert split_words("It's  12 o'clock,\n naïve!!") == [
        *("it", "'s", "1", "2", "o", "'", "clock", ",", "naïve", "!!")
    ]


def test_the_whole_tokenizer_can_be_in_one_file(tmp_path, tokenizer):
    merges = (FOLDER / "merges.txt").read_text("utf-8").splitlines()[1:]
    vocabulary = json.loads((FOLDER / "vocab.json").read_text("utf-8"))
    whole = {"model": {"vocab": vocabulary, "merges": [line.split(" ") for line in merges]}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    text = "a photo of a Vision Transformer."
    assert Tokenizer.load(tmp_path).encode(text, 77) == tokenizer.encode(text, 77)


def test_without_a_tokenizer_the_files_are_named(tmp_path):
    shutil.copy(FOLDER / "config.json", tmp_path)
    assert "expected vocab.json and merges.txt, or tokenizer.json" in complaint(Tokenizer.load, tmp_path)


def test_classes_in_words_have_the_probabilities_of_transformers(model):
    with np.load(FOLDER / "answers.npz") as answers:
        found = model.zero_shot(answers["images"], CLASSES)
        assert error(found, answers["probabilities"]) < 1e-5
        several = model.zero_shot(answers["images"], CLASSES, ["{}", "a photo of a {}."])
        assert several.shape == found.shape and not np.allclose(several, found)


def test_a_copy_of_a_model_still_knows_words(model):
    images = np.zeros((1, 12, 12, 3), np.uint8)
    expected = model.zero_shot(images, CLASSES)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.at_resolution(12)):
        np.testing.assert_array_equal(other.zero_shot(images, CLASSES), expected)


@pytest.mark.parametrize(
    ("classes", "templates", "why"),
    [
        ("cat", ["{}"], "classes is 'cat', expected a list of texts"),
        ([], ["{}"], "classes is [], expected a list of texts"),
        (iter([]), ["{}"], "expected a list of texts"),
        ([1, 2], ["{}"], "expected a list of texts"),
        ({"cat", "dog"}, ["{}"], "expected a list of texts"),  # in which order?
        ({"cat": 0, "dog": 1}, ["{}"], "expected a list of texts"),
        (["cat", " "], ["{}"], "expected a list of texts"),
        (5, ["{}"], "classes is 5, expected a list of texts"),
        (["cat"], ["{}"], "'cat' is the only class, and a CLIP shares out 100%"),
        (["cat", "dog", "cat"], ["{}"], "two classes are called 'cat'"),
        (["cat", "dog"], "{}", "templates is '{}', expected a list of texts"),
        (["cat", "dog"], ["{}", "a photo"], "the template 'a photo' has no {}: put {} in the place"),
        (["cat", "dog"], ["{name}"], "the template '{name}' has no {}"),
        (["cat", "dog"], ["{"], "the template '{' has no {}"),
    ],
)
def test_classes_and_templates_that_say_nothing_are_refused(model, classes, templates, why):
    assert why in complaint(model.zero_shot, np.zeros((1, 12, 12, 3), np.uint8), classes, templates)


def test_a_new_head_leaves_the_space_that_images_and_texts_share(model):
    classifier = model.with_new_head(["cat", "dog"])
    assert classifier.has_head and "does not know words" in complaint(
        classifier.zero_shot, np.zeros((1, 12, 12, 3), np.uint8), CLASSES
    )


@pytest.mark.parametrize("made", [list, tuple, iter, np.array, lambda texts: dict.fromkeys(texts).keys()])
def test_classes_and_templates_may_be_any_iterable_with_an_order(model, made):
    images, templates = np.full((1, 12, 12, 3), 7, np.uint8), ["{}", "a {}"]
    expected = model.zero_shot(images, CLASSES, templates)
    np.testing.assert_array_equal(model.zero_shot(images, made(CLASSES), made(templates)), expected)


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("a {} next to a {}", "a cat next to a cat"),
        ("{} {0}", "cat {0}"),
        ("{{}}", "{cat}"),
        ("{} {", "cat {"),
        ("{}: {name} {!r}", "cat: {name} {!r}"),
        ("100% {}", "100% cat"),
    ],
)
def test_every_literal_pair_of_braces_is_replaced_and_nothing_else(monkeypatch, template, sentence):
    words, seen = read_words(FOLDER), []
    monkeypatch.setattr(words, "embed", lambda texts: seen.append(texts) or np.ones((len(texts), 4)))
    words.classes(["cat", "dog"], [template])
    assert seen == [[sentence], [sentence.replace("cat", "dog")]]


def test_a_siglip_judges_a_single_class(monkeypatch):
    words = read_words(FOLDER)
    monkeypatch.setattr(words, "embed", lambda texts: np.ones((len(texts), 4)))
    words.config = replace(words.config, causal=False)
    assert words.classes(["cat"], ["{}"]).shape == (1, 4)


@pytest.mark.parametrize("causal", [True, False])
def test_probabilities_are_those_of_cosines_scaled_and_shifted(causal):
    words = read_words(FOLDER)
    words = replace(words, config=replace(words.config, causal=causal), scale=1.5, bias=-0.75)
    images, classes = np.random.default_rng(0).normal(size=(2, 3, 4))
    cosines = images @ classes.T / np.linalg.norm(images, axis=1)[:, None] / np.linalg.norm(classes, axis=1)
    odds = np.exp(np.exp(1.5) * cosines - 0.75)
    expected = odds / odds.sum(axis=1, keepdims=True) if causal else odds / (1 + odds)
    classes = classes / np.linalg.norm(classes, axis=1, keepdims=True)
    np.testing.assert_allclose(words.probabilities(images, classes), expected, rtol=1e-6)


def test_a_model_without_texts_says_so():
    model = tinyvit.preset("nano/4", 8, 3)
    message = complaint(model.zero_shot, np.zeros((1, 8, 8, 3), np.uint8), ["cat"])
    assert "does not know words" in message


def test_from_the_shell(go, tmp_path):
    from PIL import Image

    Image.new("RGB", (20, 30), "red").save(tmp_path / "red.png")
    status, out, err = go(predict, FOLDER, tmp_path / "red.png", "--classes", "a cat, dog", "--json")
    assert (status, err) == (0, "")
    assert {row["class"] for row in json.loads(out)["classes"]} == {"a cat", "dog"}
    for model in (["--weights", FOLDER], [FOLDER]):
        words = *model, tmp_path / "red.png"
        assert_one_line(go(predict, *words), "no classes but those", 'give some with --classes "cat, dog"')
        assert go(predict, *words, "--attention", tmp_path / "a.png")[0] == 0
        assert_one_line(go(predict, *words, "--template", "a {}"), "--template is a sentence for the classes")
        assert_one_line(go(predict, *words, "--classes", "cat"), "'cat' is the only class")
        assert_one_line(go(predict, *words, "--classes", ","), "classes is (), expected a list")
        assert_one_line(go(predict, *words, "--classes", "a,b", "--template", "{name}"), "'{name}' has no {}")
        assert go(predict, *words, "--classes", "a,b", "--template", "{} {0}", "--template", "{{}}")[0] == 0


@pytest.mark.parametrize(
    ("stated", "ids"),
    [
        ({"pad_token": "<pad>"}, [3, 4, 0, 0]),
        ({"pad_token": {"content": "<pad>"}}, [3, 4, 0, 0]),
        ({}, [3, 4, 1, 1]),
        ({"pad_token": "<mask>"}, None),
        ({"tokenizer_class": "SiglipTokenizer"}, [3, 4, 1, 1]),
        ({"tokenizer_class": "GemmaTokenizerFast", "pad_token": "<pad>"}, [3, 4, 5, 0]),  # SigLIP 2
    ],
    ids=str,
)
def test_texts_of_siglip_are_tokens_as_its_files_say(tmp_path, stated, ids):
    tokenizers = pytest.importorskip("tokenizers", reason="needs the package tokenizers")
    vocabulary = {"<pad>": 0, "</s>": 1, "<unk>": 2, "a": 3, "cat": 4, ".": 5}
    whole = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    whole.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    whole.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(stated))
    config = TextConfig(6, 4, 4, 5, 2, 1, 3, causal=False, has_bias=True)
    if ids is None:
        message = complaint(tokenizer_of, tmp_path, config)
        assert "lacks the token that texts are padded with" in message
    else:
        assert tokenizer_of(tmp_path, config)(["A  cat."]).tolist() == [ids]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a photo of a cat.", "a photo of a cat"),
        (" it's a t-shirt,\n(blue) ", "its a tshirt blue"),
        ("50% – “naïve” !?", "50 – “naïve”"),
        ("...", ""),
    ],
)
def test_the_first_siglip_reads_no_ascii_punctuation(text, read):
    """As canonicalize_text in transformers' SiglipTokenizer."""
    assert without_punctuation(text) == read


@pytest.mark.parametrize("causal", [True, False])
def test_gradients_of_a_text_tower(causal):
    config = TextConfig(7, 5, 4, 5, 2, 2, 3, causal=causal, has_bias=not causal)
    rng = np.random.default_rng(0)
    params = Params.zeros(text_layout(config), "float64")
    params.flat[...] = rng.normal(0, 0.5, params.count)
    ids = np.array([[1, 2, 2, 6, 6], [5, 6, 6, 6, 6]])
    read = places_to_read(config, ids, 6)
    upstream = rng.standard_normal((2, 3))
    grads = params.zeros_like()
    _, cache = embed_texts(config, params, ids, read)
    embed_texts_backward(upstream, cache, grads)
    expected = params.zeros_like()
    expected.flat[...] = numerical_gradient(
        lambda: (embed_texts(config, params, ids, read)[0] * upstream).sum(), params.flat
    )
    for name in params:
        assert gradient_error(grads[name], expected[name]) < 1e-6, name


def test_a_causal_tower_sees_nothing_of_what_comes_after_the_token_that_is_read():
    words = read_words(FOLDER)
    ids = words.tokenize(["a cat", "a dog and another dog on a table"])
    alone = words.tokenize(["a cat"])
    e, _ = embed_texts(words.config, words.params, ids, places_to_read(words.config, ids, words.end))
    other, _ = embed_texts(words.config, words.params, alone, places_to_read(words.config, alone, words.end))
    np.testing.assert_allclose(e[0], other[0], rtol=1e-5)
