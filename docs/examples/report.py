"""A planner sends twelve searches, and a report that follows once all have succeeded. No process waits meanwhile."""

import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
plans, searches, reports = (muster.mailbox.create(name=f'{name}-{run}').id for name in ('plans', 'searches', 'reports'))


def search(message: Claim, task: Task) -> str:
    return f'{message.payload["topic"]} in {message.payload["year"]}'


def write(message: Claim, task: Task) -> str:
    found = task.results()
    return f'{message.payload["topic"]}: {len(found)} finds, from {found[0].result} to {found[-1].result}'


def plan(message: Claim, task: Task) -> str:
    topic, scope_id = message.payload['topic'], message.scope_id
    # Each work_key names the work: an attempt after a crash sends nothing twice.
    sent = [
        muster.message.send(
            mailbox_id=searches, scope_id=scope_id, payload={'topic': topic, 'year': year}, work_key=str(year)
        )
        for year in range(2014, 2026)
    ]
    report = muster.message.send(
        mailbox_id=reports, scope_id=scope_id, payload={'topic': topic}, work_key='report', after=sent
    )
    return report.id


def ended(message_id: str) -> str:
    while (message := muster.message.view(message_id=message_id, wait_seconds=30)).finished_at is None:
        pass
    return str(message.result)


first = muster.message.send(mailbox_id=plans, scope_id=run, payload={'topic': 'queues'})
with (
    Worker(muster, {'mailbox_id': plans}, plan),
    Worker(muster, {'mailbox_id': searches}, search, concurrency=4),
    Worker(muster, {'mailbox_id': reports}, write),
):
    print(ended(ended(first.id)))
