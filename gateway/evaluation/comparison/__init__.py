"""Two deciders beside each other: trails in, one report out."""
