// Every call that changes something and the main reads, in an order in which each finds the records that it needs.
import { type Answer, type Operation, post, Sequence } from './sequence.ts';

const GROUP_MEMBERS = 50;
/** The highest allowed target, which is never reached here. */
const FAR = 100_000;
const YEAR_SECONDS = 31_536_000;

function messages(
  run: Sequence,
  payload: unknown,
): { mailbox: () => string; finish: (times: number, keep: string[]) => void } {
  const { times, scopeId } = run;
  const mailboxes: string[] = [];
  const claims: Answer[] = [];
  const mailbox = () => mailboxes[0] ?? '';
  const send = () => post(`/mailboxes/${mailbox()}/messages`, { scopeId, payload });
  const recv = () =>
    post(`/mailboxes/${mailbox()}/recv`, { scopeId, holder: 'scale', holderSession: 's-1', leaseSeconds: 600 });
  const keepClaim = (claim: Answer) => claims.push(claim);
  const token = (i: number) => ({ token: claims[i]?.['token'] });
  const path = (i: number, what: string) => `/messages/${claims[i]?.['id']}/${what}`;
  const complete = (i: number) => post(path(i, 'complete'), token(i));

  run.aside(
    1,
    () => post('/mailboxes', { name: 'scale', backlogLimit: 100_000 }),
    ({ id = '' }) => mailboxes.push(id),
  );
  run.measure('message.send', send);
  run.measure('message.recv', recv, keepClaim);
  run.measure('message.renew', (i) => post(path(i, 'renew'), { ...token(i), leaseSeconds: 600 }));
  run.measure('message.complete', complete);
  run.aside(times, send);
  run.aside(times, recv, keepClaim);
  run.measure('message.nack', (i) => post(path(times + i, 'nack'), { ...token(times + i), retry: false }));
  run.measure('mailbox.create', (i) => post('/mailboxes', { name: run.newName(i) }));
  return {
    mailbox,
    finish: (count, ids) => {
      run.aside(count, send);
      run.aside(count, recv, (claim) => {
        keepClaim(claim);
        ids.push(claim['id'] ?? '');
      });
      run.aside(count, (i) => complete(2 * times + i));
    },
  };
}

/** Tasks that succeeded outside of groups join one and are judged there: this takes the fewest additional calls. */
function groups(run: Sequence, payload: unknown, { mailbox, finish }: ReturnType<typeof messages>): () => string {
  const { times } = run;
  const half = Math.ceil(times / 2);
  const ids: string[] = [];
  const tasks: string[] = [];
  const path = (i: number) => `/task-groups/${ids[i % ids.length]}`;
  /** Submitted members fill groups from the first on, joined ones from the last back. */
  const joined = (i: number) => path(ids.length - 1 - Math.floor(i / GROUP_MEMBERS));
  const create = () => post('/task-groups', { mailboxId: mailbox(), condition: 'ALL_TERMINAL' });

  finish(times, tasks);
  run.measure('group.create', create, ({ groupId = '' }) => ids.push(groupId));
  run.measure('task.submit', (i) =>
    post(`${path(Math.floor(i / GROUP_MEMBERS))}/tasks`, { taskKey: `t-${i}`, input: payload }),
  );
  run.measure('group.join', (i) => post(`${joined(i)}/join-task`, { taskId: tasks[i] }));
  const verdict = (what: string, from: number) => (i: number) =>
    post(`${joined(from + i)}/tasks/${tasks[from + i]}/${what}`);
  run.measure('task.accept', verdict('accept', 0), undefined, half);
  run.measure('task.reject', verdict('reject', half), undefined, times - half);
  run.measure('group.seal', (i) => post(`${path(i)}/seal`));
  return () => path(0);
}

function budgets(run: Sequence): () => string {
  const { scopeId } = run;
  const ids: string[] = [];
  const reservations: string[] = [];
  const path = () => `/budgets/${ids[0]}`;
  const reserve = () => post(`${path()}/reserve`, { scopeId, holder: 'scale', amountMinor: '125' });
  const keep = ({ id = '' }: Answer) => reservations.push(id);
  const close = (i: number) => ({ reservationId: reservations[i], workKey: `work-${i}` });

  run.measure(
    'budget.create',
    (i) => post('/budgets', { name: run.newName(i), currency: 'EUR', scale: 2, limitMinor: '9'.repeat(18) }),
    ({ id = '' }) => ids.push(id),
  );
  run.measure('budget.reserve', reserve, keep);
  run.measure('budget.settle', (i) => post(`${path()}/settle`, { ...close(i), amountMinor: '125' }));
  run.aside(run.times, reserve, keep);
  run.measure('budget.void', (i) => post(`${path()}/void`, close(run.times + i)));
  return path;
}

function barriers(run: Sequence): () => string {
  const { scopeId } = run;
  const ids: string[] = [];
  const keep = ({ id = '' }: Answer) => ids.push(id);
  const path = (i: number) => `/barriers/${ids[i]}`;
  const arrive = (i: number) => ({ arrivalKey: `a-${i}` });

  run.aside(1, () => post('/barriers', { scopeId, target: FAR }), keep);
  run.measure('barrier.create', () => post('/barriers', { scopeId, target: 1 }), keep);
  run.measure('barrier.arrive', (i) => post(`${path(0)}/arrive`, arrive(i)));
  run.aside(run.times, (i) => post(`${path(1 + i)}/arrive`, arrive(i)));
  run.measure('barrier.nextEpoch', (i) => post(`${path(1 + i)}/nextEpoch`));
  run.measure('barrier.cancel', (i) => post(`${path(1 + i)}/cancel`));
  return () => path(0);
}

function allowances(run: Sequence): () => string {
  const { scopeId } = run;
  const ids: string[] = [];
  const waiters: string[] = [];
  const path = (i: number) => `/allowances/${ids[i]}`;
  const take = { scopeId, holder: 'scale', units: 1 };

  run.measure(
    'allowance.create',
    (i) =>
      post('/allowances', {
        name: run.newName(i),
        unitsLimit: i === 1 ? 1 : 1_000_000_000,
        windowSeconds: YEAR_SECONDS,
      }),
    ({ id = '', name = '' }) => {
      ids[Number(name.split('-').at(-1))] = id;
    },
  );
  run.measure('allowance.consume', () => post(`${path(0)}/consume`, take));
  // The second allowance has one unit a year, which is consumed here, so later callers wait.
  run.aside(1, () => post(`${path(1)}/consume`, take));
  run.measure(
    'allowance.wait',
    () => post(`${path(1)}/wait`, { ...take, ttlSeconds: 3_600 }),
    ({ waiterId = '' }) => waiters.push(waiterId),
  );
  run.measure('waiter.cancel', (i) => post(`/allowance-waiters/${waiters[i]}/cancel`));
  run.measure('allowance.cooldown', (i) => post(`${path(i)}/cooldown`, { seconds: 1 }));
  return () => path(0);
}

/** All operations, each `times` times, the reads less often. */
export function operations(times: number, payload: unknown): Operation[] {
  const run = new Sequence(times);
  const queue = messages(run, payload);
  const paths = {
    group: groups(run, payload, queue),
    budget: budgets(run),
    barrier: barriers(run),
    allowance: allowances(run),
  };
  run.measure('limits.put', () => ({ method: 'PUT', path: '/limits', body: { maxLeaseSeconds: 600 } }));
  for (const [name, path] of Object.entries(paths)) run.read(`${name}.view`, path);
  run.read('messages, page of 50', () => `/mailboxes/${queue.mailbox()}/messages`);
  run.read('events, page of 100', () => '/events');
  run.read('watch, nothing new', () => '/watch?cursor=latest');
  for (const path of ['limits', 'census', 'backlog', 'usage', 'ops/waits']) run.read(path, () => `/${path}`);
  run.read('run view', () => `/ops/runs/${run.scopeId}`);
  return run.list;
}
