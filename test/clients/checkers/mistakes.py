"""Mistakes that a user may make. Both checkers report each line that ends with `# wrong`, and no other."""

from muster import Claim, Muster, Spend, Task, TypedMailbox, Usage, Worker

muster = Muster()
sent = muster.message.send(mailbox_id='m', scope_id='s', payload=1)
muster.message.send(mailbox_id='m', scope_id='s', payload=1, after=[sent, sent.id, {'messageId': 'm'}, {'groupId': 'g'}])
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
