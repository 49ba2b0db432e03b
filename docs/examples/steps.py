"""A researcher dies after its first step; the next attempt does not fetch again. All share one list of sources."""

import uuid
from typing import Any

from muster import Claim, Muster, Run, Task, Worker

muster = Muster()
scope_id = str(uuid.uuid4())
mailbox_id = muster.mailbox.create(name=f'research-{scope_id}').id
fetches: list[str] = []


def fetch(topic: str) -> dict[str, Any]:
    fetches.append(topic)
    return {'title': f'All about {topic}', 'words': len(topic) * 100}


def research(message: Claim, task: Task) -> str:
    topic: str = message.payload['topic']
    page = task.once('fetch', lambda: fetch(topic))
    if message.attempt == 1:
        raise RuntimeError('the machine is gone')  # As if the process had died here.
    task.run.note('sources').update(lambda sources: sorted({*(sources or []), page['title']}))
    return task.once('summary', lambda: f'{page["words"]} words on {topic}')


sent = [
    muster.message.send(mailbox_id=mailbox_id, scope_id=scope_id, payload={'topic': topic}, work_key=topic)
    for topic in ('queues', 'leases', 'clocks')
]
with Worker(muster, {'mailbox_id': mailbox_id}, research, concurrency=4):
    for one in sent:
        while (message := muster.message.view(message_id=one.id, wait_seconds=30)).finished_at is None:
            pass
        print(f'{message.result}, attempt {message.attempts}')
print(f'{len(fetches)} fetches; {", ".join(Run(muster, scope_id).note("sources").get())}')
