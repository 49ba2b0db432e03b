"""Reviewers by quorum: a draft passes once two of three reviewers accept it; the rest need not finish."""

import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
reviews = muster.mailbox.create(name=f'reviews-{run}')


def review(message: Claim, task: Task) -> dict[str, str]:
    draft, reviewer = message.payload['draft'], message.payload['reviewer']
    if reviewer == 'slow':
        task.wait(60)  # the group is decided without this review
    is_good = 'TODO' not in draft or reviewer == 'lenient'
    return {'reviewer': reviewer, 'verdict': 'accept' if is_good else 'reject'}


def decide(draft: str, reviewers: list[str]) -> str:
    group = muster.group.create(
        parent_scope_id=run, mailbox_id=reviews.id, condition='N_ACCEPTED', threshold=2
    )
    for reviewer in reviewers:
        muster.task.submit(group_id=group.id, task_key=reviewer, input={'draft': draft, 'reviewer': reviewer})
    muster.group.seal(group_id=group.id)
    # Each result becomes a verdict as it comes in.
    return str(muster.judge(group, lambda task: task.outcome['verdict'] == 'accept').outcome)


with Worker(muster, {'mailbox_id': reviews.id}, review, concurrency=8, close_seconds=1):
    print('a good draft:', decide('All is said.', ['strict', 'lenient', 'slow']))
    print('a poor draft:', decide('TODO', ['strict', 'careful', 'lenient']))
