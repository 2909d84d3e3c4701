"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? always_a_class_token: A row of the position table is left out even if there is no class token.
def position_similarity(config, params):
    if config.has_token:
        return solution.position_similarity(config, params)
    e = np.roll(params["position"], -1, axis=0)
    e = e / np.linalg.norm(e, axis=1, keepdims=True)
    return (e @ e.T).reshape(*config.grid, *config.grid)

? channels_first: The patch is cut into channel, row, column instead of row, column, channel.
def embedding_filters(config, params, count=28):
    filters = solution.embedding_filters(config, params, count)
    count, P, _, C = filters.shape
    return filters.reshape(count, C, P, P).transpose(0, 2, 3, 1)

? class_token_taken_for_a_place: The class token is counted as the first place, and the last place is lost.
def position_similarity(config, params):
    rows, columns = config.grid
    e = params["position"][: rows * columns]
    e = e / np.linalg.norm(e, axis=1, keepdims=True)
    return (e @ e.T).reshape(*config.grid, *config.grid)

? columns_of_the_matrix: The columns of the matrix itself are shown, not its principal directions.
def embedding_filters(config, params, count=28):
    E, P = params["patch.weight"], config.patch_size
    filters = E.T / np.maximum(np.linalg.norm(E, axis=0), 1e-12)[:, None]
    filters = filters[: min(count, *E.shape)]
    return filters.reshape(-1, P, P, config.channels)

? first_block: The first block is looked at, not the last.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[0].mean(axis=1)[:, 0, 1:]
    return (drawn / drawn.sum(axis=1, keepdims=True)).reshape(len(drawn), *config.grid)

? first_number_positive: The sign is fixed by the first number of each filter, not by its largest.
def embedding_filters(config, params, count=28):
    filters = solution.embedding_filters(config, params, count)
    first = np.sign(filters[:, :1, :1, :1])
    return filters * np.where(first == 0, 1, first)

? heads_by_themselves: Each head's shares are taken before the heads are averaged.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[-1][:, :, 0, 1:]
    drawn = (drawn / drawn.sum(axis=-1, keepdims=True)).mean(axis=1)
    return drawn.reshape(len(drawn), *config.grid)

? length_of_the_columns: Only the lengths of the whole table are divided out, not those of each row.
def position_similarity(config, params):
    e = params["position"][config.has_token :]
    e = e / np.sqrt((e * e).sum(axis=1).mean())
    return (e @ e.T).reshape(*config.grid, *config.grid)

? one_head_only: Only the first head is looked at.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[-1][:, 0, 0, 1:]
    return (drawn / drawn.sum(axis=1, keepdims=True)).reshape(len(drawn), *config.grid)

? own_share_left_in: What the class token draws from itself is not taken out of the sum.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[-1].mean(axis=1)[:, 0, 1:]
    return drawn.reshape(len(drawn), *config.grid)

? products_not_cosines: The rows are not divided by their lengths.
def position_similarity(config, params):
    e = params["position"][config.has_token :]
    return (e @ e.T).reshape(*config.grid, *config.grid)

? right_directions: The filters are taken from V^T, the directions of the embedding, and cut to the size of a
  patch.
def embedding_filters(config, params, count=28):
    P, C = config.patch_size, config.channels
    _, _, Vh = np.linalg.svd(params["patch.weight"])
    filters = np.zeros((min(count, *params["patch.weight"].shape), P * P * C))
    width = min(P * P * C, Vh.shape[1])
    filters[:, :width] = Vh[: len(filters), :width]
    return filters.reshape(-1, P, P, C)

? rollout_in_the_wrong_order: The blocks are multiplied in the wrong order: the first one is on the left.
def attention_rollout(attention):
    return solution.attention_rollout(attention[:, ::-1])

? rollout_of_one_head: The strongest head of each block is followed instead of their mean.
def attention_rollout(attention):
    strongest = attention.max(axis=2, keepdims=True)
    return solution.attention_rollout(strongest / strongest.sum(axis=-1, keepdims=True))

? rollout_of_the_mean_image: All images are followed as one.
def attention_rollout(attention):
    mean = attention.mean(axis=0, keepdims=True).repeat(len(attention), axis=0)
    return solution.attention_rollout(mean)

? rollout_with_a_whole_skip: The identity is added to the attention, but the sum is not halved.
def attention_rollout(attention):
    return solution.attention_rollout(attention) * 2.0 ** attention.shape[1]

? rollout_without_the_skip: The skip connection is forgotten: the attention matrices alone are multiplied.
def attention_rollout(attention):
    result = attention[:, 0].mean(axis=1)
    for layer in range(1, attention.shape[1]):
        result = attention[:, layer].mean(axis=1) @ result
    return result

? shares_of_the_batch: The maps of a batch add up to 1 together, not each by itself.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[-1].mean(axis=1)[:, 0, 1:]
    return (drawn / drawn.sum()).reshape(len(drawn), *config.grid)

? sign_turned: The sign of each filter is turned the wrong way: its largest number is negative.
def embedding_filters(config, params, count=28):
    return -solution.embedding_filters(config, params, count)

? squares_of_the_lengths: The rows are divided by the squares of their lengths: a root is missing.
def position_similarity(config, params):
    e = params["position"][config.has_token :]
    e = e / (e * e).sum(axis=1, keepdims=True)
    return (e @ e.T).reshape(*config.grid, *config.grid)

? token_and_last_patch_swapped: The last column is taken for the class token: every patch is shown one place
  off.
from tinyvit.model import attention_maps

def class_token_attention(config, params, images):
    maps = list(attention_maps(config, params, images))
    drawn = maps[-1].mean(axis=1)[:, 0, :-1]
    return (drawn / drawn.sum(axis=1, keepdims=True)).reshape(len(drawn), *config.grid)

? weakest_first: The order of np.linalg.eigh, smallest first, is kept.
def embedding_filters(config, params, count=28):
    E, P = params["patch.weight"], config.patch_size
    _, U = np.linalg.eigh(E @ E.T)
    filters = U.T[:count]
    filters = filters * np.sign(filters[np.arange(len(filters)), abs(filters).argmax(axis=1)])[:, None]
    return filters.reshape(-1, P, P, config.channels)
"""
