"""One report, written as text, JSON, Markdown, HTML and as the list that `lake exe checkdecls` reads."""
