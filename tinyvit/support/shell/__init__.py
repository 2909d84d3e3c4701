"""What all commands share: parsing, flags, endings, progress."""
