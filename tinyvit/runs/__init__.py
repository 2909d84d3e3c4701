"""What a run leaves on disk: its settings, its folder, its checkpoints."""
