"""What a certified number is; knows nothing of privacy."""
