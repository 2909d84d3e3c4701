"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? join_as_if_cut: The two halves are put side by side, as if the shadow had never been rounded up.
- upper = shadow - (rest >> np.uint16(15))
+ upper = shadow

? round_always_bf16: Seven bits are kept, however many were asked for.
- pattern, dropped = x.view(np.uint32), np.uint32(23 - bits)
+ pattern, dropped = x.view(np.uint32), np.uint32(16)

? round_cuts: The bits that do not fit are cut off.
- pattern + (half - np.uint32(1) + last)
+ pattern

? round_half_down: A tie is always rounded towards zero.
- half - np.uint32(1) + last
+ half - np.uint32(1)

? round_half_up: A tie is always rounded away from zero.
- half - np.uint32(1) + last
+ half

? round_in_place: The bits are rounded in the memory of x.
-     return np.where(np.isnan(x), x, rounded.view(np.float32))
+     x[...] = np.where(np.isnan(x), x, rounded.view(np.float32))
+     return x

? round_last_of_the_dropped: The bit that decides a tie is the first that is dropped, not the last that is
  kept.
- last = (pattern >> dropped) & np.uint32(1)
+ last = (pattern >> (dropped - np.uint32(1))) & np.uint32(1)

? round_nan_overflows: A NaN is rounded like a number: some become infinity, others zero.
- np.where(np.isnan(x), x, rounded.view(np.float32))
+ rounded.view(np.float32)

? split_cuts: The shadow is w with its last 16 bits cut off: not the nearest.
- (pattern + np.uint32(0x8000)) >> np.uint32(16)
+ pattern >> np.uint32(16)

? split_ties_to_even: The shadow is rounded to nearest even: of some ties, nothing tells which they were.
- (pattern + np.uint32(0x8000)) >> np.uint32(16)
+ (pattern + np.uint32(0x7FFF) + ((pattern >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)

? timeline_adds_the_two_times: Arithmetic waits until all bytes are there: the two times are added.
- max(arithmetic, each.bytes_moved / card.bytes_a_second)
+ arithmetic + each.bytes_moved / card.bytes_a_second

? timeline_always_waits: The host waits for every operation before it launches the next.
- if each.host_waits:
+ if True:

? timeline_flop_as_multiply_adds: A multiply-add is taken for one FLOP.
- arithmetic = 2 * each.multiply_adds / card.flop_a_second
+ arithmetic = each.multiply_adds / card.flop_a_second

? timeline_launch_on_the_card: The card itself is busy with each launch.
- start = max(host, card_free)
+ start = max(host, card_free + card.launch_seconds)

? timeline_never_waits: The host's waits are ignored.
- host = card_free
+ pass

? timeline_side_by_side: Every operation begins as soon as it is launched.
- start = max(host, card_free)
+ start = host

? traffic_counts_operands_twice: An array that several steps of a kernel need is read once for each.
- made, read = set(), set()
+ made, read = set(), []
- read |= set(operands) - made
+ read += set(operands) - made
- wanted = (wanted - made) | read
+ wanted = (wanted - made) | set(read)

? traffic_forgets_what_is_kept: Only what later kernels read is written.
- wanted, moved = set(kept), 0
+ wanted, moved = set(), 0

? traffic_intermediates_are_read: What a kernel has made itself is read from memory as well.
- read |= set(operands) - made
+ read |= set(operands)

? traffic_launches_every_step: A launch is counted for every step.
- return len(kernels), moved
+ return sum(map(len, kernels)), moved

? traffic_result_before_operands: x += h makes x first, and so never reads it.
-             read |= set(operands) - made
-             made.add(result)
+             made.add(result)
+             read |= set(operands) - made

? traffic_wanted_by_the_next_alone: A result is written only if the very next kernel reads it, or if it is
  kept.
- wanted = (wanted - made) | read
+ wanted = set(kept) | read

? traffic_wanted_for_ever: A result is written although another takes its place before anybody reads it.
- wanted = (wanted - made) | read
+ wanted = wanted | read

? traffic_writes_everything: Every result is written to memory, wanted or not.
- moved += sum(nbytes[name] for name in read) + sum(nbytes[name] for name in made & wanted)
+ moved += sum(nbytes[name] for name in read) + sum(nbytes[name] for name in made)

? train_always_clips: A short gradient is lengthened to the largest norm.
- toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))
+ toy.minimum(1e9, largest / toy.sqrt((g * g).sum() + 1e-30))

? train_decides_on_the_host: Whether to clip is decided by an if, which waits.
-         g *= toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))
+         norm = toy.sqrt((g * g).sum())
+         if norm > largest:
+             g *= largest / norm

? train_never_stops: Training goes on after a mean that is not finite.
- break
+ continue

? train_reads_at_the_end: All losses are read when training is over: nobody sees when it goes wrong.
-         if len(unread) == every:
+     while unread:
+         if True:
- sum(map(float, unread)) / every
+ sum(map(float, unread[:every])) / every
- unread.clear()
+ del unread[:every]

? train_reads_every_loss: The loss of each step is read at once.
- unread.append(loss)
+ unread.append(float(loss))

? train_stops_at_nan_alone: A mean that is infinite does not end the training.
- math.isfinite(means[-1])
+ not math.isnan(means[-1])

? train_weights_elsewhere: w is replaced by a new array, and the caller's stays as it was.
- w -= rate * g
+ w = w - rate * g
"""
