"""What the diagnosis asks about a wrong array: each answer is the end of a sentence, or empty."""
