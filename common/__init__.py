"""What both apps build on: statements sent in one go, and wake-up calls to the worker."""
