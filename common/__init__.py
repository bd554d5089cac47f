"""Code that both apps use: pipelined SQL statements and wake-up calls to the worker."""
