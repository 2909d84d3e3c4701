"""The questions that the diagnosis asks about a wrong array; each answers with the end of a sentence, or ""."""
