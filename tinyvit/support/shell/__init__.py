"""The common parts of all commands: parsing, flags, endings, progress."""
