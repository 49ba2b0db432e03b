"""A workflow in plain code: plan, write 40 chapters elsewhere, ask a person, sleep, report.

Between its attempts nobody holds the message; an attempt that crashes anywhere starts the handler anew, and nothing is
done twice.
"""

import threading
import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
chapters, books = (muster.mailbox.create(name=f'{name}-{run}').id for name in ('chapters', 'books'))


def plan(subject: str, count: int) -> list[str]:
    """A stand-in for the model call that plans."""
    return [f'{subject}, part {n + 1}' for n in range(count)]


def write(message: Claim, task: Task) -> int:
    return 100 + len(message.payload)


def author(message: Claim, task: Task) -> str:
    subject = message.payload['subject']
    # Stored with the run, so that every attempt has the same plan.
    titles = task.once('plan', lambda: plan(subject, 40))
    # Sends the chapters and gives up the claim, in one step. The handler starts anew when all of them have ended.
    parts = task.join('chapters', [{'mailbox': {'mailbox_id': chapters}, 'payload': title} for title in titles])
    answer = task.answer or task.ask(f'Print {sum(parts)} words?', options=['yes', 'no'])
    if answer.value != 'yes':
        return f'{subject} is not printed'
    # A day, for a real printer.
    task.sleep('printing', 1)
    return f'{subject}: {len(parts)} chapters, {sum(parts)} words, printed'


def answer() -> None:
    """A person would use the page of the question, or the console."""
    for event in muster.events(types=['question.asked'], scope_id=run):
        muster.question.answer(question_id=event.payload['questionId'], answer='yes', answered_by='ann')


threading.Thread(target=answer, daemon=True).start()
book = muster.message.send(mailbox_id=books, scope_id=run, payload={'subject': 'Clocks'})
with Worker(muster, {'mailbox_id': chapters}, write, concurrency=8), Worker(muster, {'mailbox_id': books}, author):
    muster.scope.wait_idle(scope_id=run)
done = muster.message.view(message_id=book.id)
print(f'{done.result} (attempt {done.attempts})')
