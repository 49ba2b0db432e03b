"""Phases with a barrier: nobody begins a phase before everybody has finished the one before it."""

import uuid

from muster import Claim, Muster, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
parts = muster.mailbox.create(name=f'parts-{run}')
barrier = muster.barrier.create(scope_id=run, target=5)
log: list[str] = []


def work(message: Claim, task: Task) -> None:
    phase, part = message.payload['phase'], message.payload['part']
    log.append(phase)
    # An attempt after a crash arrives with the same key: it counts once.
    muster.barrier.arrive(
        barrier_id=barrier.id, arrival_key=f'part-{part}', epoch=message.payload['epoch']
    )


with Worker(muster, {'mailbox_id': parts.id}, work, concurrency=5):
    for epoch, phase in enumerate(['map', 'shuffle', 'reduce'], start=1):
        muster.batch(
            [
                muster.call.message.send(
                    mailbox_id=parts.id,
                    scope_id=run,
                    payload={'phase': phase, 'part': part, 'epoch': epoch},
                )
                for part in range(5)
            ]
        )
        while muster.barrier.view(barrier_id=barrier.id, epoch=epoch, wait_seconds=30).state == 'OPEN':
            pass
        print(f'{phase}: all have arrived')
        if phase != 'reduce':
            muster.barrier.next_epoch(barrier_id=barrier.id)

assert log == ['map'] * 5 + ['shuffle'] * 5 + ['reduce'] * 5
print('in order:', ' '.join(dict.fromkeys(log)))
