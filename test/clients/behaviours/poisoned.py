"""A worker process with a handler that kills it, for poison.test.ts. Like poisoned.mjs."""

from __future__ import annotations

import json
import os
import signal
import time

from muster import Claim, Muster, Task, Worker


def handle(message: Claim, task: Task) -> None:
    print(json.dumps(message.payload), flush=True)
    time.sleep(0.2 if message.payload == 'poison' else 0.5)
    if message.payload == 'poison':
        os.kill(os.getpid(), signal.SIGKILL)


mailbox = {'mailbox_id': os.environ['MAILBOX']}
Worker(Muster(), mailbox, handle, concurrency=int(os.environ['CONCURRENCY'])).run()
