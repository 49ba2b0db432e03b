"""Payloads of other types than a typed mailbox has, each refused by pyright: `npm run typecheck` finds an ignore that is not needed."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
from muster import AsyncMuster, AsyncTypedMailbox, Muster, TypedMailbox

muster, run = Muster(), 'run'
pages: TypedMailbox[str, int] = TypedMailbox(muster, 'pages', max_attempts=2)
pages.send('a', scope_id=run, priority=1)
pages.send(1, scope_id=run)  # pyright: ignore[reportArgumentType]
pages.send('a', scope_id=run, prio=1)  # pyright: ignore[reportCallIssue]
pages.schedule(1, name='hourly', scope_id=run, every_seconds=3600)  # pyright: ignore[reportArgumentType]
muster.batch([pages.call.send('a', scope_id=run)])
pages.call.send(1, scope_id=run)  # pyright: ignore[reportArgumentType]
group = pages.create_group(condition='ALL_TERMINAL')
group.submit('a', task_key='t')
group.submit(1, task_key='t')  # pyright: ignore[reportArgumentType]
group.judge(lambda task: task.outcome > 3)
group.judge(lambda task: task.outcome.approves)  # pyright: ignore
outcomes: list[int | None] = [task.outcome for task in group.wait_decided().members]
with muster.atomic() as t:
    pages.within(t).send(1, scope_id=run)  # pyright: ignore[reportArgumentType]
    new = pages.within(t).create_group(condition='ALL_TERMINAL')
    new.submit('a', task_key='t')
    new.submit(1, task_key='t')  # pyright: ignore[reportArgumentType]
words: list[str] = [one.payload for one in pages.all(state='ACKED')]
pages.worker(lambda message, task: len(message.payload), concurrency=2)
pages.worker(lambda message, task: message.payload + 1)  # pyright: ignore
pages.worker(lambda message, task: 1, colour='red')  # pyright: ignore[reportCallIssue]


async def program(later: AsyncMuster) -> None:
    letters: AsyncTypedMailbox[str, int] = AsyncTypedMailbox(later, 'letters')
    total: int = await letters.result((await letters.send('a', scope_id=run)).id, max_seconds=5)
    await letters.send(total, scope_id=run)  # pyright: ignore[reportArgumentType]
    first = (await letters.group('g').wait_decided()).members[0]
    await letters.send(first.outcome, scope_id=run)  # pyright: ignore[reportArgumentType]
    async with later.atomic() as t:
        letters.within(t).send(1, scope_id=run)  # pyright: ignore[reportArgumentType]
