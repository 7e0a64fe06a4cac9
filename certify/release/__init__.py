"""The release paper: the mechanism's law on an instance and the statements about it."""
