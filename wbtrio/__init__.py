"""wbtrio: the Wildberries seller API under structured concurrency, inside every budget."""
