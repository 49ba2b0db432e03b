"""A worker of the Python client whose handler waits for the end of its claim, for lost.test.ts."""

from __future__ import annotations

import json
import logging
import os

from muster import Claim, ClaimLost, Muster, Task, Worker

logging.disable(logging.CRITICAL)


def handle(message: Claim, task: Task) -> None:
    print(json.dumps({'id': message.id, 'token': message.token}), flush=True)
    try:
        task.wait(60)
    except ClaimLost as lost:
        print(json.dumps({'reason': str(lost)}), flush=True)
        raise


Worker(Muster(), {'mailbox_id': os.environ['MAILBOX']}, handle, lease_seconds=5).run()
