"""Programs to begin with; the tests run each of them."""
