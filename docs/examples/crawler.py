"""A crawler under a shared quota: five requests a second for all workers, and a pause for all when the site says so."""

import uuid

from muster import Claim, Muster, RetryLater, Task, Worker

muster = Muster()
run = str(uuid.uuid4())
urls = muster.mailbox.create(name=f'urls-{run}')
quota = muster.allowance.create(name=f'site-{run}', units_limit=5, window_seconds=1)
links = {'/': ['/a', '/b'], '/a': ['/c', '/'], '/b': ['/c', '/d'], '/c': [], '/d': ['/a']}
requests: list[str] = []


def fetch(url: str) -> tuple[int, list[str]]:
    """A stand-in for a site that refuses one request."""
    requests.append(url)
    return (429, []) if len(requests) == 3 else (200, links[url])


def visit(url: str) -> None:
    # One message per page: a send with a known workKey adds none.
    muster.message.send(mailbox_id=urls.id, scope_id=run, payload=url, work_key=url)


def crawl(message: Claim, task: Task) -> list[str]:
    task.units(quota.id)  # queues for the quota
    status, found = fetch(message.payload)
    if status == 429:
        muster.allowance.cooldown(allowance_id=quota.id, seconds=1, reason='the site asks for a pause')
        raise RetryLater(1)
    for url in found:
        visit(url)
    return found


visit('/')
with Worker(muster, {'mailbox_id': urls.id}, crawl, concurrency=10) as worker:
    worker.drained()

pages = list(muster.message.all(mailbox_id=urls.id))
print('pages:', ' '.join(sorted(page.payload for page in pages)))
print('requests:', len(requests))
