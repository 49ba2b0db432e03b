import { randomUUID } from 'node:crypto';
import type { World } from '../support/world.ts';

export interface Fleet {
  readonly boxes: Readonly<Record<'crawl' | 'summarise' | 'review' | 'embed' | 'publish' | 'results', string>>;
  readonly runs: readonly string[];
  readonly budgetId: string;
  /** Its time to settle has passed. */
  readonly overdueId: string;
  readonly allowanceId: string;
  readonly poolId: string;
  /** One that holds units of the pool, and one that waits for them. */
  readonly holds: readonly string[];
}

/** Adds mailboxes until there are 26, and claims by 31 workers at all of them. */
export async function grow(world: World, { boxes, runs }: Fleet): Promise<void> {
  const ids = Object.values(boxes);
  const steps = ['fetch', 'parse', 'split', 'rank', 'check', 'merge', 'render', 'notify', 'archive', 'translate'];
  for (const of of ['books', 'news'])
    for (const step of steps) ids.push((await world.mustPost('/mailboxes', { name: `${step} ${of}` })).id);
  for (const [n, mailboxId] of ids.entries()) {
    const send = { call: 'message.send', mailboxId, scopeId: runs[n % runs.length], payload: { n } };
    await world.mustPost('/batch', { calls: Array.from({ length: 3 + (n % 7) }, () => send) });
  }
  for (let n = 0; n < 31; n++)
    await world.mustPost(`/mailboxes/${ids[6 + (n % 20)]}/recv`, {
      ...{ scopeId: '*', holder: `${hosts[n % hosts.length]}-worker-${n}`, holderSession: `start-${n}` },
      leaseSeconds: 600,
    });
}

const hosts = ['alpha', 'beta', 'gamma', 'delta'];

/** A working day of a fleet of agents: some of everything, and something wrong with most of it. */
export async function fleet(world: World, hook?: string): Promise<Fleet> {
  const begun = Date.now();
  await world.at(begun - 1_800_000);
  if (hook !== undefined)
    await world.mustPost('/destinations', { url: hook, eventTypes: ['message.failed', 'message.rejected'] });
  const box = async (name: string, more: object = {}): Promise<string> =>
    (await world.mustPost('/mailboxes', { name, ...more })).id;
  const boxes = {
    crawl: await box('crawl pages', { maxAttempts: 1 }),
    summarise: await box('summarise chapters', { retryDelaySeconds: 3_600 }),
    review: await box('review by a second model'),
    embed: await box('embed', { maxAttempts: 1 }),
    publish: await box('publish to the site'),
    results: await box('results', { mode: 'INBOX', recipientId: 'coordinator' }),
  };
  const runs: string[] = [];
  for (const name of ['nightly crawl', 'books 1–40', 'books 41–80', 'news desk', 'backfill', 'site check'])
    runs.push((await world.mustPost('/scopes', { name })).id);
  const run = (n: number): string => runs[n % runs.length] ?? '';
  const send = (mailboxId: string, n: number, more: object = {}) => ({
    ...{ call: 'message.send', mailboxId, scopeId: run(n), payload: { page: n } },
    ...{ workKey: `page-${n}`, ...more },
  });
  for (const [mailboxId, many] of [
    [boxes.crawl, 30],
    [boxes.summarise, 12],
    [boxes.review, 8],
    [boxes.embed, 9],
    [boxes.publish, 4],
  ] as const)
    await world.mustPost('/batch', { calls: Array.from({ length: many }, (_, n) => send(mailboxId, n)) });
  const claim = (mailboxId: string, n: number) =>
    world.mustPost(`/mailboxes/${mailboxId}/recv`, {
      ...{ scopeId: '*', holder: `${hosts[n % hosts.length]}-worker-${n % 3}`, holderSession: `start-${n % 3}` },
      leaseSeconds: 600,
    });
  const fail = async (mailboxId: string, n: number, error: string, retry = true): Promise<void> => {
    const { id, token } = await claim(mailboxId, n);
    await world.mustPost(`/messages/${id}/nack`, { token, retry, error });
  };
  for (let n = 0; n < 7; n++) await fail(boxes.crawl, n, `timeout after ${31 + 11 * n} ms of ${randomUUID()}`);
  for (let n = 0; n < 3; n++) await fail(boxes.crawl, n, `HTTP 503 from host-${n}.example.com`);
  await fail(boxes.embed, 1, 'the model answered with 0 of 1536 numbers');
  await fail(boxes.review, 2, 'not a chapter', false);
  await fail(boxes.summarise, 3, 'the model is busy');
  await world.at(begun - 600_000);
  for (let n = 0; n < 8; n++) {
    const { id, token } = await claim(boxes.crawl, n);
    await world.mustPost(`/messages/${id}/complete`, { token });
  }
  for (let n = 0; n < 6; n++) await world.mustPost('/batch', { calls: [send(boxes.results, 100 + n)] });

  const money = { currency: 'EUR', scale: 2 };
  const all = await world.mustPost('/budgets', { ...money, name: 'all agents', limitMinor: '50000' });
  const budget = await world.mustPost('/budgets', {
    ...{ ...money, name: 'summaries', limitMinor: '9000', parentBudgetId: all.id, alertPercents: [50, 80] },
  });
  const spent = await world.mustPost('/budgets', { ...money, name: 'embeddings', limitMinor: '700' });
  const reserve = (budgetId: string, holder: string, amountMinor: string, more: object = {}) =>
    world.mustPost(`/budgets/${budgetId}/reserve`, { scopeId: run(1), holder, amountMinor, ...more });
  const settleBy = new Date(begun - 300_000).toISOString();
  const overdue = await reserve(budget.id, 'alpha-worker-1', '4200', { settleBy });
  const open = await reserve(budget.id, 'beta-worker-2', '2500');
  await world.mustPost(`/budgets/${budget.id}/settle`, {
    ...{ reservationId: open.id, amountMinor: '1234', workKey: 'chapter-7', label: 'summary' },
  });
  await reserve(spent.id, 'gamma-worker-0', '700');

  await world.at(begun - 240_000);
  const allowance = await world.mustPost('/allowances', {
    ...{ name: 'model calls a minute', unitsLimit: 60, windowSeconds: 86_400 },
  });
  await world.mustPost('/allowances', { name: 'search calls', unitsLimit: 1_000, windowSeconds: 3_600 });
  await world.mustPost(`/allowances/${allowance.id}/consume`, { scopeId: run(1), holder: 'alpha-worker-1', units: 55 });
  for (const [n, holder] of ['beta-worker-2', 'gamma-worker-0', 'delta-worker-1'].entries())
    await world.mustPost(`/allowances/${allowance.id}/wait`, {
      ...{ scopeId: run(n), holder, units: 10 + n, ttlSeconds: 3_600 },
    });
  const pool = await world.mustPost('/pools', { name: 'browsers', units: 2 });
  await world.mustPost('/pools', { name: 'site deploy', units: 1 });
  const holds: string[] = [];
  for (const [n, holder] of ['alpha-worker-1', 'delta-worker-0', 'beta-worker-2'].entries()) {
    const asked = { scopeId: run(n), holder, holderSession: `start-${n}`, leaseSeconds: 600, ttlSeconds: 3_600 };
    holds.push((await world.mustPost(`/pools/${pool.id}/acquire`, asked)).id);
  }
  for (let n = 0; n < 5; n++) await claim([boxes.crawl, boxes.review, boxes.embed][n % 3] ?? '', n);

  for (const [question, options] of [
    ['Publish the page about tides?', ['yes', 'no']],
    ['Which of the two covers?', null],
  ])
    await world.mustPost('/questions', { scopeId: run(3), holder: 'editor', question, options });
  await world.mustPost(`/mailboxes/${boxes.publish}/pause`);
  await world.at(begun);
  return { boxes, runs, budgetId: budget.id, overdueId: overdue.id, allowanceId: allowance.id, poolId: pool.id, holds };
}
