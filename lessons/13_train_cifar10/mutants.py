"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? a_gap_is_overfitting: Any gap between the two losses is called overfitting.
def verdict(records, classes):
    found, last = solution.verdict(records, classes), records[-1]
    if found == "learning" and last["train_loss"] < 0.8 * last.get("val_loss", 0):
        return "overfitting"
    return found

? always_ten_classes: The loss of blind guessing is taken to be 2.3 whatever the classes.
def verdict(records, classes):
    return solution.verdict(records, 10)

? any_epoch_above_guessing: Any epoch far above guessing counts as divergence, even if the run recovers.
- or last["train_loss"] > 1.2 * guess
+ or any(record["train_loss"] > 1.2 * guess for record in records)

? augmented_once: All images are augmented before the first epoch, and stay like that.
-     step, best, records = 0, None, []
+     images = parts.augment(images, rng)
+     step, best, records = 0, None, []
- normalise(parts.augment(images[chosen], rng), params
+ normalise(images[chosen], params

? best_by_loss: The epoch with the lowest validation loss is kept.
- val_accuracy > max(record["val_accuracy"]
+ val_loss < min(record["val_loss"]

? best_by_test: The best epoch is chosen by the test images.
-         if best is None or val_accuracy > max(record["val_accuracy"] for record in records):
-             best = params.astype(params.flat.dtype)
+         _, test = evaluate(model, data.test.images, data.test.labels, batch_size)
+         if best is None or test > highest:
+             highest, best = test, params.astype(params.flat.dtype)

? best_is_no_copy: What is kept is the model itself, which goes on changing.
- best = params.astype(params.flat.dtype)  # a copy
+ best = params

? best_is_the_last: The parameters of the last epoch are returned.
- if best is None or val_accuracy > max(record["val_accuracy"] for record in records):
+ if epoch:

? better_than_the_last_epoch: An epoch is kept as the best if it is better than the one before.
- val_accuracy > max(record["val_accuracy"] for record in records)
+ val_accuracy > records[-1]["val_accuracy"]

? chance_from_the_global_generator: Order and crops come from NumPy's global generator.
- rng = model.params, np.random.default_rng(seed)
+ rng = model.params, np.random.default_rng(np.random.randint(2**31))

? cleared_once_an_epoch: The gradients are cleared at the start of an epoch only.
- grads.flat[:] = 0
+
-         order, loss_sum = rng.permutation(count), 0.0
+         grads.flat[:] = 0
+         order, loss_sum = rng.permutation(count), 0.0

? compared_with_the_lowest_so_far: A loss is compared with the lowest so far instead of the epoch just before.
- any(after > 1.01 * before for before, after in pairwise(losses))
+ any(losses[i] > 1.01 * min(losses[:i]) for i in range(1, len(losses)))

? decay_on_everything: Biases, gains and positions decay too.
- (slice(params.decayed, None), 0.0)
+ (slice(params.decayed, None), weight_decay)

? drawn_with_replacement: Each image of a batch is drawn from all images, so that some come twice and some
  never.
- order, loss_sum = rng.permutation(count), 0.0
+ order, loss_sum = rng.integers(0, count, count), 0.0

? evaluation_from_0_to_1: Evaluation normalises otherwise than training does.
- normalise(images[part], model.params.flat.dtype)
+ images[part] / 255

? evaluation_is_augmented: Evaluation shows crops and mirrored images.
- normalise(images[part], model
+ normalise(parts.augment(images[part], np.random.default_rng(0)), model

? evaluation_with_noise: Stochastic depth stays switched on in evaluation.
- normalise(images[part], model.params.flat.dtype))
+ normalise(images[part], model.params.flat.dtype), Noise(0, start))

? every_rise_is_a_jump: Every rise of the loss counts as a jump, however small.
- jumps = any(after > 1.01 * before for before, after in pairwise(losses))
+ jumps = any(after > before for before, after in pairwise(losses))

? fallen_since_the_first_epoch: The training loss is compared with that of the first epoch, not of the lowest
  held-out loss.
- last["train_loss"] < lowest["train_loss"]
+ last["train_loss"] <= records[0]["train_loss"]

? generator_made_anew_every_epoch: Every epoch begins with the same seed, and so with the same order and the
  same crops.
-         order, loss_sum = rng.permutation(count), 0.0
+         rng = np.random.default_rng(seed)
+         order, loss_sum = rng.permutation(count), 0.0

? gradients_not_cleared: The gradients of all steps so far are added up.
- grads.flat[:] = 0
+

? highest_instead_of_last: The highest held-out loss since the lowest is taken, not the last.
- if last["val_loss"] > 1.1
+ if max(losses[losses.index(min(losses)) :]) > 1.1

? jump_since_the_first_epoch: A loss is compared with that of the first epoch instead of the epoch just
  before.
- any(after > 1.01 * before for before, after in pairwise(losses))
+ any(loss > 1.01 * losses[0] for loss in losses)

? jumps_of_the_training_loss: The training loss is asked for jumps although there is a validation loss.
- losses = [record[key] for record in records]
+ losses = [record["train_loss"] for record in records]

? labels_not_in_order: The images are shuffled, and the labels are not.
- shown, labels[chosen], grads
+ shown, labels[start : start + batch_size], grads

? last_batch_dropped: The images that do not fill a batch are left out.
-         for start in range(0, count, batch_size):
+         for start in range(0, count - batch_size + 1, batch_size):

? last_of_equals: Of equally good epochs the last is kept.
- val_accuracy > max(record["val_accuracy"]
+ val_accuracy >= max(record["val_accuracy"]

? loss_of_all_epochs: The losses of the epochs before are still in the sum.
- step, best, records = 0, None, []
+ step, best, records, loss_sum = 0, None, [], 0.0
- order, loss_sum = rng.permutation(count), 0.0
+ order = rng.permutation(count)

? lowest_instead_of_last: The lowest training loss is compared with guessing, not the last.
- if last["train_loss"] > 0.95 * guess
+ if min(record["train_loss"] for record in records) > 0.95 * guess

? mean_of_batch_means: Evaluation takes the mean of the batches' means, though the last batch is smaller.
- loss_sum, right = 0.0, 0
+ loss_sum, right, batches = 0.0, 0.0, 0
- loss_sum += float(loss) * len(logits)
+ loss_sum += float(loss)
- right += int((logits.argmax(axis=1) == labels[part]).sum())
+ right, batches = right + float((logits.argmax(axis=1) == labels[part]).mean()), batches + 1
- return loss_sum / len(labels), right / len(labels)
+ return loss_sum / batches, right / batches

? nan_is_not_noticed: nan is compared with numbers, which is never true.
def verdict(records, classes):
    finite = [record for record in records if math.isfinite(record["train_loss"])]
    return solution.verdict(finite, classes)

? no_decay: Nothing decays.
- (slice(params.decayed), weight_decay)
+ (slice(params.decayed), 0.0)

? no_noise_in_training: Stochastic depth is never switched on.
- labels[chosen], grads, Noise(seed, step))
+ labels[chosen], grads)

? noise_of_the_epoch: All steps of an epoch have the same noise.
- grads, Noise(seed, step))
+ grads, Noise(seed, epoch))

? not_augmented: The training images are shown as they are.
- normalise(parts.augment(images[chosen], rng), params
+ normalise(images[chosen], params

? not_clipped: The gradient is not clipped.
- parts.clip_norm(grads.flat, 1.0)
+ (grads.flat, None)

? not_shuffled: The images come in the order of the data set.
- rng.permutation(count), 0.0
+ np.arange(count), 0.0

? only_the_last_jump: Only the last epoch is asked for a jump of the loss.
- any(after > 1.01 * before for before, after in pairwise(losses))
+ len(losses) > 1 and losses[-1] > 1.01 * losses[-2]

? optimiser_made_anew_every_epoch: AdamW forgets its running means after each epoch.
-         order, loss_sum = rng.permutation(count), 0.0
+         m, v = np.zeros_like(params.flat), np.zeros_like(params.flat)
+         order, loss_sum = rng.permutation(count), 0.0

? rate_once_an_epoch: The learning rate changes only from epoch to epoch.
- parts.learning_rate(step, epochs
+ parts.learning_rate(1 + (epoch - 1) * steps, epochs

? rate_one_epoch_late: The learning rate is that of one epoch before.
- parts.learning_rate(step, epochs
+ parts.learning_rate(max(1, step - steps), epochs

? rate_one_step_late: Steps are counted from 0, for the rate alone.
- parts.learning_rate(step, epochs
+ parts.learning_rate(step - 1, epochs

? rising_is_overfitting: A rising validation loss is called overfitting even where the training loss rises
  too.
def verdict(records, classes):
    found = solution.verdict(records, classes)
    held_out = [record["val_loss"] for record in records if "val_loss" in record]
    if found == "learning" and held_out and held_out[-1] > 1.1 * min(held_out):
        return "overfitting"
    return found

? same_order_every_epoch: The order is drawn once, before the epochs.
- step, best, records = 0, None, []
+ step, best, records, order = 0, None, [], rng.permutation(count)
- order, loss_sum = rng.permutation(count), 0.0
+ loss_sum = 0.0

? schedule_begins_again: Every epoch has a warm-up and a decay of its own.
- parts.learning_rate(step, epochs * steps, peak, warmup_epochs * steps)
+ parts.learning_rate(step - (epoch - 1) * steps, steps, peak, warmup_epochs)

? threshold_off_by_ten: The held-out loss may rise by 1 percent, not by 10.
- if last["val_loss"] > 1.1 * lowest["val_loss"] and last["train_loss"] < lowest["train_loss"]:
+ if last["val_loss"] > 1.01 * lowest["val_loss"] and last["train_loss"] < lowest["train_loss"]:

? total_without_the_last_batch: The smaller last batches are not counted, so that the schedule ends too early.
- parts.learning_rate(step, epochs * steps,
+ parts.learning_rate(step, max(epochs * (count // batch_size), warmup_epochs * steps + 1),

? training_loss_over_batches: The training loss is the mean of the batches' means.
- loss_sum += loss * len(chosen)
+ loss_sum += loss
- train_loss = loss_sum / count
+ train_loss = loss_sum / steps

? two_runs_swapped: Shuffled labels and held-out images in another range are taken for each other.
def faults_found():
    found = solution.faults_found()
    return found | {"A": found["B"], "B": found["A"]}

? warm_up_of_one_step: The epochs of the warm-up are taken for steps.
- peak, warmup_epochs * steps)
+ peak, warmup_epochs)

? zero_is_never_best: An accuracy of 0 is not better than nothing, and nothing is kept.
- if best is None or val_accuracy > max(record["val_accuracy"] for record in records):
+ if val_accuracy > max([0.0] + [record["val_accuracy"] for record in records]):
"""
