"""The workers, of the same parts as in the TypeScript client: `threads.py` and `event_loop.py` run their handlers."""
