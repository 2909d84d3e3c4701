"""Training steps prepared once and then replayed, for trust_graph. Two are right."""

import importlib

_toy = importlib.import_module("lessons.28_gpu.device")
_plain = importlib.import_module("lessons.28_gpu.plain")
minimum, sqrt = _toy.minimum, _toy.sqrt
BETA, LARGEST, loss_and_gradient = _plain.BETA, _plain.LARGEST, _plain.loss_and_gradient


class Step:
    """A right step on arrays of the device, cut into parts, so that a wrong one can change a single part."""

    def __init__(self, device, w, x, t, rate):
        self.device, self.w, self.x, self.t, self.rate = device, w, x, t, rate
        self.m, self.g = w * 0, w * 0
        self.power = device.array(1.0)  # BETA ** n
        self.loss = device.array(0.0)

    def gradient(self):
        loss, g = loss_and_gradient(self.w, self.x, self.t)
        self.loss.fill(loss)
        self.g.fill(0)
        self.g += g

    def clip(self):
        self.g *= minimum(1.0, LARGEST / sqrt((self.g * self.g).sum()))

    def remember(self):
        self.m *= BETA
        self.m += (1 - BETA) * self.g
        self.power *= BETA

    def update(self):
        self.w -= self.rate * self.m / (1 - self.power)

    def all(self):
        self.gradient()
        self.clip()
        self.remember()
        self.update()


def captured(kind):
    """capture_step for a kind of Step: its launches are captured before the first step."""

    def capture_step(device, w, x, t, rate):
        step = kind(device, w, x, t, rate)
        return device.capture(step.all).launch, step.loss

    return capture_step


def one_by_one(device, w, x, t, rate):
    """Right: no graph at all."""
    step = Step(device, w, x, t, rate)
    return step.all, step.loss


# The wrong ones


class RateFrozen(Step):
    """The rate is read when the graph is captured, and travels with the launch from then on."""

    def __init__(self, *arrays):
        super().__init__(*arrays)
        self.rate = float(self.rate)


class BatchFrozen(Step):
    """x is copied once, before the capture."""

    def __init__(self, *arrays):
        super().__init__(*arrays)
        self.x = self.x.copy()


class CorrectionFrozen(Step):
    """The number of the step is counted by Python, which runs only while the graph is captured."""

    n = 0

    def update(self):
        self.n += 1
        self.w -= self.rate * self.m / (1 - BETA**self.n)


class ClippingFrozen(Step):
    """Whether to clip is decided by the batch that was there before the capture."""

    def __init__(self, *arrays):
        super().__init__(*arrays)
        _, g = loss_and_gradient(self.w, self.x, self.t)
        self.clips = bool((g * g).sum() > LARGEST**2)

    def clip(self):
        if self.clips:
            self.g *= LARGEST / sqrt((self.g * self.g).sum())


class GradientKept(Step):
    """Nobody clears the gradient between two replays."""

    def gradient(self):
        loss, g = loss_and_gradient(self.w, self.x, self.t)
        self.loss.fill(loss)
        self.g += g


class MomentumCleared(Step):
    """m is set to zero inside the graph, and so at every replay."""

    def remember(self):
        self.m.fill(0)
        super().remember()


class WeightsElsewhere(Step):
    """The new weights are another array: w itself never moves."""

    def update(self):
        self.w = self.w - self.rate * self.m / (1 - self.power)


class LossOfTheCapture(Step):
    """The loss is worked out once, before the capture."""

    def __init__(self, *arrays):
        super().__init__(*arrays)
        self.loss.fill(loss_and_gradient(self.w, self.x, self.t)[0])

    def gradient(self):
        self.g.fill(0)
        self.g += loss_and_gradient(self.w, self.x, self.t)[1]


def warmed_up(device, w, x, t, rate):
    """A step is done before the capture, as one should, but not undone."""
    step = Step(device, w, x, t, rate)
    step.all()
    return device.capture(step.all).launch, step.loss


def first_step_twice(device, w, x, t, rate):
    """The first call does its step, captures, and launches what it captured."""
    step, graph = Step(device, w, x, t, rate), []

    def call():
        if not graph:
            step.all()
            graph.append(device.capture(step.all))
        graph[0].launch()

    return call, step.loss


RIGHT = {"captured as a graph": (captured(Step),), "launched one by one": (one_by_one,)}
WRONG = {
    "rate_frozen": (captured(RateFrozen),),
    "batch_frozen": (captured(BatchFrozen),),
    "correction_frozen": (captured(CorrectionFrozen),),
    "clipping_frozen": (captured(ClippingFrozen),),
    "gradient_kept": (captured(GradientKept),),
    "momentum_cleared": (captured(MomentumCleared),),
    "weights_elsewhere": (captured(WeightsElsewhere),),
    "loss_of_the_capture": (captured(LossOfTheCapture),),
    "warmed_up": (warmed_up,),
    "first_step_twice": (first_step_twice,),
}
