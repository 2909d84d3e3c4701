"""Write torch_answers.npz: what PyTorch makes of the CASES in torch_cases.py. Needs torch; run by hand:

    python -m tests.golden.make_torch_golden

The model is that of torch_vit.py.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tests.golden.torch_cases import ANSWERS, CASES, CLIP, PEAK, STEPS, WARMUP, WEIGHT_DECAY, draw
from tests.golden.torch_vit import ViT, load, places


def schedule(done):
    """Factor of the learning rate after `done` steps: linear warm-up, then half a cosine."""
    if done < WARMUP:
        return (done + 1) / WARMUP
    return 0.5 + 0.5 * math.cos(math.pi * (done - WARMUP) / (STEPS - WARMUP))


def answers(case):
    """Logits, loss and gradients of the first batch, and the loss of every training step."""
    params, batches = draw(case)
    model = ViT(case.config).double()
    load(model, params)
    table = places(model)
    matrices = [p for p in model.parameters() if p.ndim > 1 and p is not model.position]
    others = [p for p in model.parameters() if p.ndim == 1 or p is model.position]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.999), eps=1e-8)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    out, losses = {}, []
    for images, labels in batches:
        logits = model(torch.from_numpy(images))
        loss = functional.cross_entropy(logits, torch.from_numpy(labels), label_smoothing=case.smoothing)
        optimizer.zero_grad()
        loss.backward()
        if not losses:
            out["logits"], out["loss"] = logits.detach().numpy(), loss.detach().numpy()
            for name, (tensors, combine) in table.items():
                out[f"gradient/{name}"] = combine(*(t.grad for t in tensors)).numpy().copy()
        losses.append(loss.item())
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        scheduler.step()
    return out | {"losses": np.array(losses)}


def main():
    """Write the file."""
    arrays = {f"{name}/{key}": a for name, case in CASES.items() for key, a in answers(case).items()}
    np.savez_compressed(ANSWERS, **arrays)
    print(
        f"{ANSWERS.name}: {len(arrays)} arrays, {ANSWERS.stat().st_size:,} bytes, PyTorch {torch.__version__}"
    )


if __name__ == "__main__":
    main()
