"""The training loop and all that a run leaves behind."""
