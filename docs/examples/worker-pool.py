"""A worker pool: failed jobs are tried again with the progress that they made, and hopeless ones are given up."""

import uuid
from collections import Counter

from muster import Claim, GiveUp, Muster, RetryLater, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
jobs = muster.mailbox.create(name=f'jobs-{run}', max_attempts=3)


def count_words(message: Claim, task: Task) -> dict[str, int]:
    text: str = message.payload['text']
    if not text:
        raise GiveUp('there is no text')
    if 'later' in text and message.attempt == 1:
        task.progress({'read': len(text)})  # the next attempt finds it
        raise RetryLater(1, 'the store is busy')
    if message.progress:
        task.log.info('goes on after %s characters', message.progress['read'])
    return {'words': len(text.split())}


texts = ['one', 'one two', '', 'now or later', *(f'text number {i}' for i in range(16))]
calls = [
    muster.call.message.send(mailbox_id=jobs.id, scope_id=run, payload={'text': text}) for text in texts
]
for sent in muster.batch(calls):
    assert sent.ok, sent.error

with Worker(muster, {'mailbox_id': jobs.id}, count_words, concurrency=4) as worker:
    worker.drained()

done = list(muster.message.all(mailbox_id=jobs.id))
print(dict(Counter(message.state for message in done)))
print('words:', sum(message.result['words'] for message in done if message.state == 'ACKED'))
print('given up:', [message.last_error for message in done if message.state == 'REJECTED'])
print('attempts:', sum(message.attempts for message in done))
