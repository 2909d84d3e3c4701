"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? adds_while_gathering: The parts that arrive are added to what is there.
- flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()
+ flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()

? after_the_backward: The first bucket waits for the end of the backward.
- clock = free = 0.0
+ clock, free = 0.0, sum(seconds for seconds, _ in layers)

? all_of_it_every_turn: All that a rank knows so far is sent in every turn.
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()
+         port.send(flat)
+         cut = cuts[(port.rank - turn - 1) % port.size]
+         flat[cut] = port.receive()[cut]

? all_the_way_round: As many turns as there are ranks: the last brings back the rank's own part.
- for turn in range(port.size - 1):
+ for turn in range(port.size):

? always_brought_to_the_limit: A short gradient is made longer.
- if norm > largest:
+ if norm > 0:

? before_its_gradients: A bucket begins as soon as the network is free, whether its gradients are there or
  not.
- begin = max(clock, free)
+ begin = free

? begins_at_its_last_gradient: The last bucket begins when its last gradient is there, though more layers
  follow.
-         held += size
+         held += size
+         last = clock if size else last
- begin = max(clock, free)
+ begin = max(last, free)
- held, times = 0, []
+ held, times, last = 0, [], 0.0

? bits_instead_of_bytes: The bandwidth is taken for one in bits.
- (network.latency + size /
+ (network.latency + 8 * size /

? bucket_never_emptied: A bucket holds what the ones before held, too.
- held = 0
+

? demands_the_same_bits: It asks for the very bits of the whole batch.
- if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
+ if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=0) for w in found):

? divided_by_a_norm_of_zero: The factor is worked out before it is asked whether there is a gradient.
-     if norm > largest:
-         g[own] *= largest / norm
+     g[own] *= min(1.0, largest / np.float64(norm)) if norm != 0 else np.nan

? empty_bucket_sent: If nothing is left at the end, a bucket of nothing is sent.
- if held and (held >= limit or number == 0):
+ if held >= limit or number == 0:

? every_bucket_is_full: A bucket takes as long as if it held `limit` bytes, at most those of the layer that
  filled it.
-             free = begin + _ring_seconds(held, ranks, network)
+             free = begin + _ring_seconds(min(held, limit), ranks, network)

? everybody_updates_all: All ranks keep the whole state.
-     update(w[own], g[own])
-     all_gather(w, port)
+     all_gather(g, port)
+     update(w, g)

? everybody_waits_first: Every rank waits for a message before it sends one.
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+         arrived = port.receive()
+         port.send(flat[cuts[(port.rank - turn) % port.size]])
+         flat[cuts[(port.rank - turn - 1) % port.size]] += arrived

? everything_summed_everywhere: The gradients are summed for all parts on all ranks, and the weights are
  gathered on top.
-     reduce_scatter(g, port)
+     reduce_scatter(g, port)
+     all_gather(g, port)

? from_the_first_layer: The backward goes from the first layer to the last.
- for number, (seconds, size) in reversed(list(enumerate(layers))):
+ for number, (seconds, size) in reversed(list(enumerate(layers[::-1]))):

? gathers_from_the_next_part: It takes a rank to have the part after its own.
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()
+         port.send(flat[cuts[(port.rank - turn + 1) % port.size]])
+         flat[cuts[(port.rank - turn) % port.size]] = port.receive()

? gradients_as_float64: The part of the gradients is made float64 on the way.
- update(w[own], g[own])
+ update(w[own], g[own].astype(float))

? half_of_the_turns: Only the first half of the all-reduce is counted.
- return 2 * (ranks - 1) *
+ return (ranks - 1) *

? handed_on_in_float16: Half the bytes: parts are handed on in float16, and the owner alone has all the
  digits.
-     for turn in range(port.size - 1):
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
+     for turn in range(port.size - 1):
+         port.send(flat[cuts[(port.rank - turn) % port.size]].astype('float16'))

? images_shared_in_fractions: Images are divided like butter.
- math.ceil(images / ranks)
+ images / ranks

? largest_number_left_out: The number `most` itself is not tried.
- for ranks in range(1, most + 1)
+ for ranks in range(1, max(most, 2))

? last_bucket_lost: What is left when the backward ends is not sent.
- (held >= limit or number == 0)
+ held >= limit

? means_of_the_ranks: The sum is divided by the number of ranks.
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+     flat /= port.size

? more_than_needed: Of two numbers that are equally fast, the larger one.
- ranks = min(seconds, key=seconds.get)
+ ranks = min(reversed(seconds), key=seconds.get)

? more_than_the_limit: A bucket of exactly `limit` bytes is not full.
- if held and (held >= limit or number == 0):
+ if held and (held > limit or number == 0):

? norm_before_the_sum: The squares are those of the rank's own gradients.
-     reduce_scatter(g, port)
+     squares = np.array([np.sum(g * g)])
+     reduce_scatter(g, port)
- squares = np.array([np.sum(g[own] * g[own])])
+

? norm_of_its_own_part: Each rank shortens its part to `largest` by the norm of the part.
-     reduce_scatter(squares, port)
-     all_gather(squares, port)
-     norm = math.sqrt(squares[0])
+     norm = math.sqrt(squares[0])

? norms_added: The norms of the parts are added up.
- np.array([np.sum(g[own] * g[own])])
+ np.array([np.linalg.norm(g[own])])
- norm = math.sqrt(squares[0])
+ norm = squares[0]

? number_by_number: Every number is a message of its own.
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+         for number in flat[cuts[(port.rank - turn) % port.size]]:
+             port.send(np.array([number]))
+         grown = flat[cuts[(port.rank - turn - 1) % port.size]]
+         for i in range(grown.size):
+             grown[i : i + 1] += port.receive()

? one_latency: All the messages together have one latency.
- 2 * (ranks - 1) * (network.latency + size / (ranks * network.bandwidth))
+ network.latency * (ranks > 1) + 2 * (ranks - 1) * size / (ranks * network.bandwidth)

? one_message_unread: A last message is sent that nobody receives.
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+     port.send(flat[cuts[port.rank]])

? one_rank_after_another: Rank 0 sends first, and every other rank only when it has received.
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+         arrived = port.receive() if port.rank else None
+         port.send(flat[cuts[(port.rank - turn) % port.size]])
+         arrived = port.receive() if arrived is None else arrived
+         flat[cuts[(port.rank - turn - 1) % port.size]] += arrived

? one_turn_too_many: As many turns as there are ranks.
- for turn in range(1, port.size):
+ for turn in range(1, port.size + 1):

? own_part_every_turn: A rank sends its own part in every turn, and hands nothing on.
-     for turn in range(port.size - 1):
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
+     for turn in range(port.size - 1):
+         port.send(flat[cuts[port.rank]])

? replaced_instead_of_added: What arrives takes the place of the rank's own numbers.
- flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+ flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()

? rest_left_out: The numbers that do not divide among the ranks belong to no part.
-     cuts = parts(flat.size, port.size)
-     for turn in range(1, port.size):
+     n = flat.size // port.size
+     cuts = [slice(n * rank, n * rank + n) for rank in range(port.size)]
+     for turn in range(1, port.size):

? rest_of_the_images_forgotten: The images that do not divide are nobody's.
- math.ceil(images / ranks)
+ (images // ranks)

? sent_in_float64: Messages are float64, whatever flat is.
-     for turn in range(1, port.size):
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
+     for turn in range(1, port.size):
+         port.send(flat[cuts[(port.rank - turn) % port.size]].astype(float))

? side_by_side: A bucket does not wait for the one before.
- begin = max(clock, free)
+ begin = clock

? starts_with_its_own_part: A rank sends its own part first: after the last turn it has the sum of the next
  rank's.
-     for turn in range(1, port.size):
+     for turn in range(port.size - 1):

? trusts_a_coarse_comparison: The tolerance is a thousandth.
- if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
+ if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-3) for w in found):

? trusts_busy_ranks: No batch is smaller than the number of ranks.
- for count, ranks, factor in ((6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)):
+ for count, ranks, factor in ((6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (5, 1, 0.7)):

? trusts_changed_images: Of what it handed over, it looks at the weights alone.
- map(np.array_equal, given, (params.flat, images, labels))
+ map(np.array_equal, given, (params.flat,))

? trusts_even_shares: Only batches that the ranks can share evenly are tried.
- (6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)
+ (6, 3, 5.0), (6, 3, 0.3), (5, 1, 0.7)

? trusts_long_steps: No gradient is too long.
- (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)
+ (2, 3, 5.0)

? trusts_rank_0: Only the weights of rank 0 are looked at.
- if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
+ if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found[:1]):

? trusts_short_steps: Every gradient is too long.
- (6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)
+ (6, 3, 0.3), (7, 3, 0.3), (2, 3, 0.3)

? trusts_spoiled_weights: It does not look at what it handed over.
-         grads = params.zeros_like()
+         params = random_params(config, np.random.default_rng(1))
+         grads = params.zeros_like()
-         if not all(map(np.array_equal, given, (params.flat, images, labels))):
-             return False
-         if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
+         if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):

? trusts_the_last_rank: Only the weights of the last rank are looked at.
- if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
+ if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found[-1:]):

? trusts_too_few_ranks: It does not count the ranks.
- if len(found) != ranks or not
+ if not

? update_of_a_copy: What the optimiser writes to is a copy.
- update(w[own], g[own])
+ update(w[own].copy(), g[own])

? weights_never_gathered: No rank learns of the updates of the others.
-     update(w[own], g[own])
-     all_gather(w, port)
+     update(w[own], g[own])

? whole_arrays_go_round: The arrays of all ranks go round as a whole, and each rank adds them up by itself.
-     for turn in range(1, port.size):
-         port.send(flat[cuts[(port.rank - turn) % port.size]])
-         flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()
+     passing = flat.copy()
+     for _ in cuts[1:]:
+         port.send(passing)
+         passing = port.receive()
+         flat += passing

? whole_in_every_message: Every message has all the bytes.
- size / (ranks * network.bandwidth)
+ size / network.bandwidth
"""
