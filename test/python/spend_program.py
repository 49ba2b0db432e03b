"""A worker process whose handler makes a model call, for tests that stop and kill it.

test/client/spend-program.mjs does the same. The payload has the account at the provider, and an instruction to it for each
attempt.
"""

from __future__ import annotations

import json
import logging
import os
import time
import urllib.request
from typing import Any

from muster import Claim, ModelCall, Muster, Spend, Task, Worker

logging.disable(logging.CRITICAL)

given: dict[str, Any] = json.loads(os.environ['SPEND'])
muster = Muster(given['url'], given['key'], given['spaceId'])


def handle(message: Claim, task: Task) -> None:
    payload = message.payload
    ask = dict(payload['asks'][(message.attempt - 1) % len(payload['asks'])])
    timeout_seconds = ask.pop('timeoutSeconds', 3600)
    budget = ask.pop('budget', payload['budget'])
    waits = ask.pop('waits', False)
    more = {'max_seconds': given['maxSeconds']} if 'maxSeconds' in given else {}
    asked = Spend(
        budget=budget, quota=payload['quota'], amount_minor=100, units=100, price=lambda usage: usage.tokens, attempts=1, **more
    )

    def work(call: ModelCall) -> None:
        os.write(1, b'entered\n')
        if waits:
            time.sleep(3600)
        request = urllib.request.Request(
            f'{given["provider"]}/{payload["account"]}', json.dumps(ask).encode(), {'Idempotency-Key': call.work_key or ''}
        )
        timeout = min(timeout_seconds, call.timeout_seconds)
        with call.fetch(urllib.request.urlopen, request, timeout=timeout) as response:
            body = response.read()
            call.answered(response, json.loads(body))

    task.spend(asked, work)


Worker(
    muster,
    {'mailbox_id': given['mailbox']['mailboxId']},
    handle,
    concurrency=given.get('concurrency', 1),
    lease_seconds=given.get('leaseSeconds', 30),
    close_seconds=given.get('closeSeconds', 25),
).run()
