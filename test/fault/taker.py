"""Takes a lock and does steps once, for tests that kill it. It tells the outside world, a file, what it does."""

from __future__ import annotations

import json
import math
import os
import random
import threading
import time
import uuid

from muster import Claim, HoldLost, Muster, MusterError, Task, Worker

asked = json.loads(os.environ['TAKER'])
muster = Muster(asked['url'], asked['key'], asked['spaceId'], attempts=20)
world = os.open(asked['world'], os.O_WRONLY | os.O_APPEND)


def tell(**what: object) -> None:
    os.write(world, f'{json.dumps(what)}\n'.encode())


def a_while(max_seconds: float = 0.03) -> None:
    time.sleep(random.random() * max_seconds)


def handle(message: Claim, task: Task) -> None:
    def step() -> str:
        made = str(uuid.uuid4())
        tell(message=message.id, made=made)
        a_while(1)
        return made

    tell(message=message.id, saw=task.once('step', step))
    a_while()


def hold(pool: str) -> None:
    while True:
        try:
            with muster.pool(pool).hold(lease_seconds=5, ttl_seconds=math.inf) as held:
                tell(fence=held.fence)
                a_while()
        except (MusterError, HoldLost):
            time.sleep(0.1)


for name in asked['pools']:
    threading.Thread(target=hold, args=(name,), daemon=True).start()
Worker(muster, {'mailbox_id': asked['mailboxId']}, handle, concurrency=3, lease_seconds=5).run()
