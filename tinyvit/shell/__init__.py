"""What the doors share: parsing, endings, flags."""
