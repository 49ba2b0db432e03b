"""Fan-out: many tasks of one group, and a program that waits until all of them have ended."""

import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
mailbox = muster.mailbox.create(name=f'pages-{run}', max_attempts=1)


def summarize(message: Claim, task: Task) -> str:
    page: str = message.payload['page']
    if page == 'broken':
        raise ValueError('the page cannot be read')
    return page.upper()


group = muster.group.create(parent_scope_id=run, mailbox_id=mailbox.id, condition='ALL_TERMINAL')
for page in ['alpha', 'beta', 'broken', 'gamma']:
    muster.task.submit(group_id=group.id, task_key=page, input={'page': page})
muster.group.seal(group_id=group.id)

with Worker(muster, {'mailbox_id': mailbox.id}, summarize, concurrency=4):
    view = muster.group.wait_decided(group_id=group.id)

print('outcome:', view.outcome)
for member in sorted(view.members, key=lambda member: member.task_key or ''):
    print(member.task_key, member.state, member.outcome or member.last_error)
