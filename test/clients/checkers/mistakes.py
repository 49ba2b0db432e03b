"""Mistakes that a user may make. Both checkers report each line that ends with `# wrong`, and no other."""

from muster import Claim, Muster, Spend, Task, TypedMailbox, Usage, Worker

muster = Muster()
sent = muster.message.send(mailbox_id='m', scope_id='s', payload=1)
muster.message.send(mailbox_id='m', scope_id='s', payload=1, after=[sent, sent.id, {'messageId': 'm'}, {'groupId': 'g'}, {'scopeId': 's'}])
muster.message.send(mailbox_id='m', scope_id='s', payload=1, after=[{'message_id': 'm'}])  # wrong
muster.message.send(mailbox='m', scope_id='s', payload=1)  # wrong
muster.budget.reserve(budget_id='b', scope_id='s', amount_minor=1.5, work_key='w')  # wrong
list(muster.message.all(mailbox_id='m', limit=10))
list(muster.message.all(mailbox_id='m', limits=10))  # wrong


def handle(message: Claim, task: Task) -> int:
    task.progress({'done': len(message.payload)})
    task.progres(1)  # wrong
    return 1


def price(usage: Usage) -> int:
    return usage.input_tokens + usage.output_token  # wrong


Worker(muster, 'jobs', handle)
Worker(muster, 'jobs', price)  # wrong
Spend(budget='b', amount_minor=1, price=price)
pages: TypedMailbox[str, int] = TypedMailbox(muster, 'pages')
pages.send('a', scope_id='s')
pages.send(1, scope_id='s')  # wrong
pages.worker(lambda message, task: 'text')  # wrong
pages.worker(lambda message, task: len(message.payload), concurrency=2)
pages.worker(lambda message, task: message.payload + 1)  # wrong
pages.worker(lambda message, task: 1, concurency=2)  # wrong
pages.send('a', scope_id='s', work_key='w', after=[sent])
pages.send('a', scope_id='s', workKey='w')  # wrong
pages.call.send('a', scope_id='s')
pages.call.send(1, scope_id='s')  # wrong
TypedMailbox(muster, 'pages', max_attempts='three')  # wrong
list(pages.all(state='ACKED'))
list(pages.all(status='ACKED'))  # wrong
pages.schedule('a', name='n', scope_id='s', every_seconds=60)
pages.schedule(1, name='n', scope_id='s', every_seconds=60)  # wrong
group = pages.create_group(condition='ALL_TERMINAL')
group.submit('a', task_key='t', priority=1)
group.submit(1, task_key='t')  # wrong
group.call.submit(1, task_key='t')  # wrong
group.judge(lambda task: task.outcome > 3)
group.judge(lambda task: task.outcome.approves)  # wrong
group.judge(lambda task: 'yes')  # wrong
total: int | None = group.wait_decided().members[0].outcome
wrong: str | None = group.wait_decided().members[0].outcome  # wrong
with muster.atomic() as t:
    pages.within(t).send('a', scope_id='s')
    pages.within(t).send(1, scope_id='s')  # wrong
    pages.within(t).create_group(condition='FIRST').submit('a', task_key='t')  # wrong
    pages.within(t).create_group(condition='FIRST_ACCEPTED').submit(1, task_key='t')  # wrong
muster.scope.wait_idle(scope_id='s', max_seconds=5)
muster.scope.wait_idle(scope_id='s', max_seconds='5')  # wrong


def sends(message: Claim, task: Task) -> int:
    task.send('next', message.payload, work_key=message.id)
    task.send('next', message.payload, workkey=message.id)  # wrong
    with task.hold('deploys', 2) as hold:
        return hold.fence


Worker(muster, 'jobs', sends)


def joins(message: Claim, task: Task) -> int:
    task.sleep('nap', 60)
    task.sleep('nap')  # wrong
    pages = task.join('pages', [{'mailbox': 'pages', 'payload': url, 'priority': 1} for url in message.payload])
    task.join('pages', [{'mailbox': 'pages', 'payload': url, 'prio': 1} for url in message.payload])  # wrong
    task.join('pages', [{'mailbox': 'pages', 'payload': 1, 'work_key': 'w'}])  # wrong
    task.join('pages', [{'payload': 1}])  # wrong
    if not pages:
        task.suspend(delay_seconds='60')  # wrong
    task.suspend(after=[sent, {'scopeId': 's'}], note={'key': 'k', 'sinceVersion': 0}, any=True, timeout_seconds=60)


Worker(muster, 'jobs', joins)
