"""API clients: their keys and quotas."""
