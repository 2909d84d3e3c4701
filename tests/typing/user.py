"""Programs as people write them who use the library, for `mypy --strict`; they are never run.

Strict also means that whatever they call must have complete types, and that an ignored error must be one.
"""

from pathlib import Path

import numpy as np

import tinyvit
from tinyvit import ViTClassifier, ops, optim
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig, initialise
from tinyvit.model import preset as config_of


def look_at_photos(folder: Path) -> list[str]:
    model: tinyvit.Model = tinyvit.load("runs/shapes-1", checkpoint="last").to("cpu")
    probabilities: np.ndarray = model.probabilities(list(folder.iterdir()))
    where: np.ndarray = model.attention_map("photo.jpg")
    height, width = model.config.image_size
    print(f"{where.mean():.3f} {height // 2} {width // 2} {model.params.count:,} {probabilities[0, 0]:.1%}")
    return [model.names[number] for number in probabilities.argmax(axis=1)]


def train(images: np.ndarray, labels: np.ndarray) -> tinyvit.Model:
    model = tinyvit.preset("nano/4", 32, ["cat", "dog"], drop_path=0.1)
    model.whiten(images).fit(images, ["cat", "dog"]).fit(images, labels, progress=True).save("pets.npz")
    without: tinyvit.Model = model.without(heads=[(0, 1)], blocks=[-1])
    wider: tinyvit.Model = without.with_new_head(3).at_resolution(64).with_new_head(["cat", "dog"])
    print(f"{model.evaluate(images, labels).by_class.f1[0]:.1%} {model.top(images, 2)[0][0][1]:.1%}")
    print(model.summary(), model.activations(images, [-1]) * 2, model.input_gradient(images, labels).max())
    print(f"{model.score(images, labels):.1%} {model.score(images, ['cat', 'dog']):.1%}")
    return wider


def classify(images: np.ndarray, labels: np.ndarray) -> float:
    classifier: ViTClassifier = ViTClassifier(epochs=5).fit([Path("a.png"), Path("b.png")], ["cat", "dog"])
    classifier.set_params(augment=flipped).fit(images, labels)
    losses: list[float] = classifier.losses_
    return classifier.score(images, labels) + losses[-1]


def flipped(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return image[:, ::-1] if rng.random() < 0.5 else image


class SignDescent(optim.Optimizer):
    def __init__(self, params: Params) -> None:
        self.params = params

    @property
    def state(self) -> dict[str, np.ndarray]:
        return {}

    def step(self, grads: Params, lr: float, step: int) -> None:
        self.params.flat[...] -= lr * np.sign(grads.flat)


def write_a_step(images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    config: ViTConfig = config_of("nano/4", (32, 32), 10)
    params: Params = initialise(config, seed=1)
    training = Training(images, labels, optim.make_optimizer("adamw", params), clip=1.0)
    training = Training(images, labels, SignDescent(params))
    engine = ReferenceEngine(config, params, training=training)
    loss, cache = ops.cross_entropy(engine.logits(images), labels)
    dlogits: np.ndarray = ops.cross_entropy_backward(cache)
    print(float(loss), engine.ranks.size)
    return dlogits


tinyvit.preset("nano/4", 32, 10).fit("a.png", [1], recipe="cpu-8-minutes", epochs=3, augment=flipped)
tinyvit.preset("nano/4", 32, 10).fit("a.png", [1], epochs="three")  # type: ignore[arg-type]
tinyvit.preset("nano/4", 32, 10).fit("a.png", [1], epoch=3)  # type: ignore[call-arg]
tinyvit.load("x", checkpiont="last")  # type: ignore[call-arg]
tinyvit.preset("nano/4", 32, 10).predict(3)  # type: ignore[arg-type]
tinyvit.preset("nano/4", 32, 10).predcit  # type: ignore[attr-defined] # noqa: B018
