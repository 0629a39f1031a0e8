"""What the tests share: virtual time, real servers, cancellation at every checkpoint."""
