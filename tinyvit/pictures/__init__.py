"""Everything that is drawn: curves, attention, portraits."""
