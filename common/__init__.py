"""What both apps build on: pipelined statements, wake-up calls to the worker, fields of the desks."""
