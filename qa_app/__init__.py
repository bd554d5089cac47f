"""Questions and answers: ranking, writing, verifying, storing, showing."""
