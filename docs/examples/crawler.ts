// A crawler: each page becomes one message, however many agents find a link to it. All agents share the site's quota; when
// the site refuses a request, all of them pause.
import { createMuster, RetryLater, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

const scopeId = crypto.randomUUID();
const name = `site ${scopeId}`;
const { id: allowanceId } = await muster.allowance.create({ name, unitsLimit: 8, windowSeconds: 1 });

/** A stand-in for a site: page n links to 2n and 2n + 1, and the third request is refused. */
let requests = 0;
async function get(page: number): Promise<{ status: number; links: number[] }> {
  if (++requests === 3) return { status: 429, links: [] };
  return { status: 200, links: [2 * page, 2 * page + 1, 1].filter((link) => link < 16) };
}

const worker = new Worker<number, number>(
  muster,
  { mailbox: 'pages', concurrency: 4 },
  async ({ payload }, { units }) => {
    await units(name);
    const { status, links } = await get(payload);
    if (status === 429) {
      await muster.allowance.cooldown({ allowanceId, seconds: 1, reason: `${status} at page ${payload}` });
      throw new RetryLater(1, 'the site asked for a pause');
    }
    await find(links);
    return links.length;
  },
);

/** Queues pages. The workKey prevents a page from being queued twice. */
async function find(pages: readonly number[]): Promise<void> {
  const mailboxId = await worker.mailboxId;
  const sends = pages.map((payload) =>
    muster.call.message.send<number>({ mailboxId, scopeId, payload, workKey: `${scopeId} ${payload}` }),
  );
  for (const sent of await muster.batch(sends)) if (!sent.ok) throw sent.error;
}

await find([1]);
await worker.drained();
await worker.close();
console.log(`${worker.counts.completed} pages in ${requests} requests, ${worker.counts.returned} of them refused`);
