"""Measuring how fast training and inference are, here and in PyTorch, and where the time goes."""
