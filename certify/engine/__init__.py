"""How work is split into blocks, run and merged; knows nothing of either paper."""
