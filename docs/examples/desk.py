"""A research desk: twelve searches within one budget, reviewers, a person who releases the report by a link."""

import threading
import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
searches, drafts, reviews, reports = (
    muster.mailbox.create(name=f'{name}-{run}').id for name in ('searches', 'drafts', 'reviews', 'reports')
)
budget = muster.budget.create(name=f'desk-{run}', currency='USD', scale=2, limit_minor=300)


def find(year: int) -> tuple[str, int]:
    """A stand-in for a search: returns a result and its cost in cents."""
    return f'the queues of {year}', 20


def search(message: Claim, task: Task) -> str:
    with task.reserve(budget.id, 25) as reservation:
        text, cents = find(message.payload)
        reservation.settle(cents)
    return text


def write(message: Claim, task: Task) -> str:
    found = task.results()
    draft = f'{len(found)} finds, from {found[0].result} to {found[-1].result}'
    # An attempt after a crash creates nothing twice: each key names something that this run has only once.
    group = muster.group.create(
        mailbox_id=reviews,
        parent_scope_id=run,
        condition='N_ACCEPTED',
        threshold=2,
        work_key=f'reviews {run}',
    )
    for reviewer in ('ada', 'ben', 'the one who never likes it'):
        muster.task.submit(group_id=group.id, task_key=reviewer, input={'draft': draft}, unique=True)
    muster.group.seal(group_id=group.id)
    muster.message.send(
        mailbox_id=reports, scope_id=run, payload=draft, work_key=f'report {run}', after=[{'groupId': group.id}]
    )
    return draft


def review(message: Claim, task: Task) -> dict[str, bool]:
    is_good = '12 finds' in message.payload['draft']
    return {'approves': is_good and message.task_key != 'the one who never likes it'}


def publish(message: Claim, task: Task) -> str:
    # Asking ends this attempt. The next one begins with the answer.
    answer = task.answer or task.ask(f'Publish "{message.payload}"?', options=['yes', 'no'])
    return f'{message.payload}; published by {answer.answered_by}' if answer.value == 'yes' else 'not published'


def judge(group_id: str) -> None:
    muster.judge(group_id, lambda task: task.outcome['approves'])


sent = [muster.message.send(mailbox_id=searches, scope_id=run, payload=2015 + i) for i in range(12)]
muster.message.send(mailbox_id=drafts, scope_id=run, payload=None, after=sent)
with (
    Worker(muster, {'mailbox_id': searches}, search, concurrency=4),
    Worker(muster, {'mailbox_id': drafts}, write),
    Worker(muster, {'mailbox_id': reviews}, review, concurrency=3),
    Worker(muster, {'mailbox_id': reports}, publish),
):
    # The desk's own program follows the events, judges the reviews, and sends the link to the person (here it prints it).
    for event in muster.events(types=['group.created', 'question.asked', 'message.acked'], scope_id=run):
        if event.type == 'group.created':
            threading.Thread(target=judge, args=(event.aggregate_id,), daemon=True).start()
        elif event.type == 'question.asked':
            link = muster.question.link(question_id=event.payload['questionId'])
            print(f'please answer: {link.answer_url}', flush=True)
        elif event.payload['mailboxId'] == reports:
            print(muster.message.view(message_id=event.payload['messageId']).result)
            break
print(f'{muster.budget.view(budget_id=budget.id).balances.settled} cents were spent')
