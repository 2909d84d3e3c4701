"""How fast a training step or a prediction is, here and in PyTorch, and where the time goes."""
