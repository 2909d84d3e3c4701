"""Named recipes: settings to train with by name, and what they have reached."""
