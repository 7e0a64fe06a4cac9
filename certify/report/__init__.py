"""One report model, written as text and JSON."""
