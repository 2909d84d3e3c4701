"""Ways to compute a batch's gradients in pieces. Two are right, the others for some batches only."""

from concurrent.futures import ThreadPoolExecutor

from tinyvit import objectives


def cut(count, pieces):
    return [slice(count * i // pieces, count * (i + 1) // pieces) for i in range(pieces)]


def add_up(config, params, images, labels, parts, shares, table):
    """The loss of all parts, one after another; their gradients are added to the table."""
    loss = 0.0
    for part, share in zip(parts, shares, strict=True):
        loss += objectives.loss_and_grads(config, params, images[part], labels[part], table, share=share)
    return loss


def true_shares(parts, count):
    return [(part.stop - part.start) / count for part in parts]


def one_after_another(config, params, images, labels, pieces, threads):
    table, parts = params.zeros_like(), cut(len(images), pieces)
    return add_up(config, params, images, labels, parts, true_shares(parts, len(images)), table), table


def neighbours_on_a_thread(config, params, images, labels, pieces, threads):
    """Every thread has pieces that lie side by side, and some may have none."""
    parts = cut(len(images), pieces)
    shares, mine = true_shares(parts, len(images)), cut(pieces, threads)

    def work(thread):
        table = params.zeros_like()
        return add_up(config, params, images, labels, parts[mine[thread]], shares[mine[thread]], table), table

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(threads)))
    total = params.zeros_like()
    for _, table in results:
        total.flat += table.flat
    return sum(loss for loss, _ in results), total


# The wrong ones


def equal_shares(config, params, images, labels, pieces, threads):
    table, parts = params.zeros_like(), cut(len(images), pieces)
    return add_up(config, params, images, labels, parts, [1 / pieces] * pieces, table), table


def two_rounds_at_most(config, params, images, labels, pieces, threads):
    """Every thread takes a first piece and a second one; a third is forgotten."""
    parts = cut(len(images), pieces)[: 2 * threads]
    table = params.zeros_like()
    return add_up(config, params, images, labels, parts, true_shares(parts, len(images)), table), table


def idle_threads_repeat(config, params, images, labels, pieces, threads):
    """A thread without a piece takes the last one once more."""
    parts = cut(len(images), pieces)
    parts += parts[-1:] * (threads - pieces)
    table = params.zeros_like()
    return add_up(config, params, images, labels, parts, true_shares(parts, len(images)), table), table


def loss_of_the_last_piece(config, params, images, labels, pieces, threads):
    """The gradients are right; the loss is the mean over the last piece."""
    _, table = one_after_another(config, params, images, labels, pieces, threads)
    last = cut(len(images), pieces)[-1]
    return objectives.loss_and_grads(config, params, images[last], labels[last], params.zeros_like()), table


class Order:
    """The pieces are added in another order at every call: what chance would do to those that do not wait."""

    def __init__(self):
        self.calls = 0

    def gradients(self, config, params, images, labels, pieces, threads):
        parts = cut(len(images), pieces)
        self.calls += 1
        at = self.calls % pieces
        parts = parts[at:] + parts[:at]
        table = params.zeros_like()
        return add_up(config, params, images, labels, parts, true_shares(parts, len(images)), table), table


class Kept:
    """One table is kept for all calls, cleared by each."""

    def __init__(self):
        self.table = None

    def gradients(self, config, params, images, labels, pieces, threads):
        if self.table is None or self.table.flat.dtype != params.flat.dtype:
            self.table = params.zeros_like()
        self.table.flat.fill(0)
        parts = cut(len(images), pieces)
        shares = true_shares(parts, len(images))
        return add_up(config, params, images, labels, parts, shares, self.table), self.table


def pixels_spoiled(config, params, images, labels, pieces, threads):
    """Right, and then the images are scaled in place, for somebody's next step."""
    result = one_after_another(config, params, images, labels, pieces, threads)
    images *= 0.5
    return result


def labels_cleared(config, params, images, labels, pieces, threads):
    """Right, and then the labels are cleared, for somebody's next batch."""
    result = one_after_another(config, params, images, labels, pieces, threads)
    labels.fill(0)
    return result


def step_taken(config, params, images, labels, pieces, threads):
    """Right, and then a step of gradient descent is taken."""
    loss, table = one_after_another(config, params, images, labels, pieces, threads)
    params.flat -= 0.1 * table.flat
    return loss, table


RIGHT = {
    "one piece after another": (one_after_another,),
    "neighbours on a thread": (neighbours_on_a_thread,),
}


def wrong():
    """Fresh ones: some remember how often they were called."""
    functions = [
        equal_shares,
        two_rounds_at_most,
        idle_threads_repeat,
        loss_of_the_last_piece,
        pixels_spoiled,
        labels_cleared,
        step_taken,
    ]
    found = {function.__name__: (function,) for function in functions}
    return found | {"order_by_chance": (Order().gradients,), "one_table_for_all": (Kept().gradients,)}
