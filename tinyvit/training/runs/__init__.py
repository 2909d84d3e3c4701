"""What a run writes to disk: its settings, its folder, its checkpoints."""
