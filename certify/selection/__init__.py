"""Selection in the sparse-vector model: exact noise, the SVT interface, Algorithms 1-9 and their exact laws."""
