"""An agent on a budget: it reserves before each call of a model, settles its real cost, and stops when the money is used up."""

import uuid
from datetime import datetime, timedelta, timezone

from muster import Claim, GiveUp, Muster, MusterError, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
questions = muster.mailbox.create(name=f'questions-{run}')
budget = muster.budget.create(name=f'llm-{run}', currency='EUR', scale=2, limit_minor=1000)


def ask_model(question: str) -> tuple[str, int]:
    """A stand-in for a model: returns an answer and its cost in cents."""
    if question == 'crash?':
        raise ConnectionError('the model is away')
    return question.upper(), 230


def answer(message: Claim, task: Task) -> str:
    try:
        # At most 3.00. If this process dies, they count as spent in 15 minutes, because the model may have been paid.
        late = datetime.now(timezone.utc) + timedelta(minutes=15)
        with task.reserve(budget.id, 300, settle_by=late, on_overdue='SETTLE') as reservation:
            text, cost = ask_model(message.payload)
            reservation.settle(cost)
    except MusterError as error:
        if error.code == 'INSUFFICIENT_BUDGET':
            raise GiveUp('the budget is used up') from error
        raise
    except ConnectionError as error:
        raise GiveUp(str(error)) from error  # the reservation is given back
    return text


for question in ['why?', 'crash?', 'how?', 'when?', 'where?', 'who?', 'what?']:
    muster.message.send(mailbox_id=questions.id, scope_id=run, payload=question)
with Worker(muster, {'mailbox_id': questions.id}, answer) as worker:
    worker.drained()

for message in muster.message.all(mailbox_id=questions.id):
    print(message.payload, message.result or message.last_error)
balances = muster.budget.view(budget_id=budget.id).balances
print(f'settled {balances.settled}, reserved {balances.reserved}, available {balances.available}')
