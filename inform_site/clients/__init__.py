"""Who may use the API, and how much: keys and counted quotas."""
