import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ConnectionOptions, FlowProducer, type JobsOptions, Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { connect, type Store } from '../../src/engine/redis/connection.ts';
import { muster } from '../support/cli.ts';
import { TestCluster } from '../support/cluster.ts';
import { longMs, many } from '../support/long.ts';
import { OwnStore } from '../support/own-store.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Printed {
  readonly status: number;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  readonly report: any;
}

describe('muster import bullmq', () => {
  let source: OwnStore;
  let store: Store;
  let connection: ConnectionOptions;
  let world: World;
  const queues: Queue[] = [];
  const stores: Store[] = [];
  before(async () => {
    source = await OwnStore.start();
    store = await connect(source.url, 'patient');
    connection = store as unknown as ConnectionOptions;
    world = await World.create({ limits: { maxBacklog: 100_000, maxArmedTimers: 100_000 } });
  });
  after(async () => {
    await Promise.all(queues.map((queue) => queue.close()));
    for (const one of [store, ...stores]) one.disconnect();
    await source.stop();
  });

  const queueOf = async (name: string): Promise<Queue> => {
    const queue = new Queue(name, { connection });
    queues.push(queue);
    await queue.pause();
    return queue;
  };

  const run = async (queue: string, ...more: string[]): Promise<Printed> => {
    const args = ['import', 'bullmq', '--redis', source.url, '--queue', queue, ...more];
    const settings = { MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: world.apiKey };
    const { status, stdout, stderr } = await muster(args, settings);
    return { status, stderr, report: stdout === '' ? null : JSON.parse(stdout) };
  };

  const counts = ({ report }: Printed) =>
    Object.fromEntries(
      report.states.map(({ state, jobs, messages }: Record<string, string>) => [state, `${messages} of ${jobs}`]),
    );

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  const messagesOf = async ({ report: { mailboxId } }: Printed): Promise<Record<string, any>> => {
    const { messages } = (await world.get(`/mailboxes/${mailboxId}/messages?limit=200`)).body;
    return Object.fromEntries(messages.map((message: { workKey: string }) => [message.workKey, message]));
  };

  /** What `received` says of each message, in the order in which a worker gets them. */
  const received = async ({ report: { mailboxId, scopeId } }: Printed): Promise<string[]> => {
    const { messages } = await world.mustPost(`/mailboxes/${mailboxId}/recv`, {
      ...{ scopeId, holder: 'worker-1', holderSession: 'one', leaseSeconds: 60, max: 100 },
    });
    return messages.map(({ workKey }: { workKey: string }) => workKey);
  };

  /** A worker under which every job fails, until this many have. */
  const failAll = async (queue: Queue, failures: number): Promise<void> => {
    await queue.resume();
    const fail = () => Promise.reject(new Error('the printer is on fire'));
    const worker = new Worker(queue.name, fail, { connection: await blocking() });
    await new Promise<void>((resolve) => {
      let count = 0;
      worker.on('failed', () => {
        count++;
        if (count === failures) resolve();
      });
    });
    await worker.close();
    await queue.pause();
  };
  const blocking = async (): Promise<ConnectionOptions> => {
    const own = await connect(source.url, 'patient');
    stores.push(own);
    return own as unknown as ConnectionOptions;
  };

  const everyState = async (name: string): Promise<Queue> => {
    const queue = await queueOf(name);
    await queue.add('charge', { cents: 0 }, { jobId: 'broken' });
    await failAll(queue, 1);
    await queue.add('charge', { cents: 1 });
    await queue.add('charge', { cents: 2 }, { jobId: 'order-2', attempts: 3 });
    await queue.add('refund', { cents: 3 }, { jobId: 'order-3', priority: 5 });
    await queue.add('refund', { cents: 4 }, { jobId: 'order-4', priority: 1 });
    await queue.add('charge', { cents: 5 }, { jobId: 'order-5', delay: 3_600_000 });
    return queue;
  };

  it('sends waiting, prioritized and delayed jobs, once, and counts them on both sides', async () => {
    const queue = await everyState('charges');
    const first = await run('charges');
    expect([first.status, first.stderr]).to.deep.equal([0, '']);
    expect(counts(first)).to.deep.equal({
      ...{ waiting: '2 of 2', prioritized: '2 of 2', delayed: '1 of 1', failed: '0 of 1' },
    });
    expect(first.report).to.include({ sent: 5, known: 0, isDryRun: false });
    expect((await world.get(`/mailboxes/${first.report.mailboxId}`)).body.name).to.equal('charges');
    const messages = await messagesOf(first);
    expect(Object.keys(messages)).to.have.members(['2', 'order-2', 'order-3', 'order-4', 'order-5']);
    expect(messages['order-3'].payload).to.deep.equal({ name: 'refund', data: { cents: 3 } });
    expect([messages['2'].maxAttempts, messages['order-2'].maxAttempts]).to.deep.equal([1, 3]);
    const delayed = await queue.getJob('order-5');
    const aheadMs = Date.parse(messages['order-5'].readyAt) - ((delayed?.timestamp ?? 0) + (delayed?.delay ?? 0));
    // Rounded up to seconds, counted from when the message is sent.
    expect(aheadMs).to.be.within(0, 3_600_000);

    const second = await run('charges');
    expect([second.status, second.report.sent, second.report.known]).to.deep.equal([0, 0, 5]);
    expect(counts(second)).to.deep.equal(counts(first));
    expect(Object.keys(await messagesOf(second))).to.have.length(5);
    expect(await received(second)).to.deep.equal(['2', 'order-2', 'order-4', 'order-3']);
  });

  it('--dry-run shows what would be sent, and sends nothing', async () => {
    await everyState('dry');
    const outcome = await run('dry', '--dry-run');
    expect([outcome.status, outcome.stderr]).to.deep.equal([0, '']);
    expect(outcome.report).to.deep.include({ isDryRun: true, sent: 5, known: 0, mailboxId: null, refused: [] });
    expect(outcome.report.first).to.deep.equal({
      ...{ workKey: '2', payload: { name: 'charge', data: { cents: 1 } }, maxAttempts: 1, priority: 2 },
    });
    expect(outcome.report.priorities).to.deep.equal({ 2: 'none', 1: '1', 0: '5' });
    expect((await world.get('/mailboxes?name=dry')).body.mailboxes).to.deep.equal([]);
    await run('dry');
    expect((await run('dry', '--dry-run')).report).to.include({ sent: 0, known: 5 });
  });

  it('--failed sends failed jobs to be tried again, with all their attempts', async () => {
    const queue = await queueOf('failures');
    const options: JobsOptions = { attempts: 2, backoff: { type: 'fixed', delay: 1 } };
    await queue.add('charge', { cents: 1 }, { ...options, jobId: 'a' });
    await failAll(queue, 2);
    expect(counts(await run('failures'))).to.deep.equal({
      ...{ waiting: '0 of 0', prioritized: '0 of 0', delayed: '0 of 0', failed: '0 of 1' },
    });
    const outcome = await run('failures', '--failed', '--mailbox', 'again');
    expect([outcome.status, counts(outcome)['failed']]).to.deep.equal([0, '1 of 1']);
    expect((await messagesOf(outcome))['a']).to.include({ state: 'READY', maxAttempts: 2 });
  });

  it('carries the attempts that are left and their pauses of a job that has failed before', async () => {
    const queue = await queueOf('retried');
    const doubling = { attempts: 4, backoff: { type: 'exponential', delay: 3_600_000 } };
    await queue.add('charge', {}, { jobId: 'doubling', ...doubling });
    await queue.add('charge', {}, { jobId: 'fixed', attempts: 3, backoff: 1_500 });
    await failAll(queue, 2);
    await queue.add('charge', {}, { jobId: 'own', attempts: 3, backoff: { type: 'mine' } });
    const messages = await messagesOf(await run('retried'));
    const of = (id: string) => {
      const { maxAttempts, retryDelaySeconds, maxRetryDelaySeconds } = messages[id];
      return [maxAttempts, retryDelaySeconds, maxRetryDelaySeconds];
    };
    expect(messages['doubling'].state).to.equal('DELAYED');
    expect(['doubling', 'fixed', 'own'].map(of)).to.deep.equal([
      [3, 7_200, 86_400],
      [2, 2, 2],
      [3, null, null],
    ]);
  });

  it('names paused jobs, the parents of flows and the next jobs of schedulers, and leaves them', async () => {
    const queue = await queueOf('flows');
    await queue.upsertJobScheduler('nightly', { pattern: '0 3 * * *' }, { name: 'report' });
    const flows = new FlowProducer({ connection });
    await flows.add({ ...{ name: 'all', queueName: 'flows' }, children: [{ name: 'part', queueName: 'parts' }] });
    await flows.close();
    await queue.add('charge', {}, { jobId: 'aside' });
    // As versions before 6 pause a queue.
    await store.rename('bull:flows:wait', 'bull:flows:paused');
    const outcome = await run('flows');
    expect([outcome.status, outcome.stderr]).to.deep.equal([0, '']);
    const left = outcome.report.states.filter(({ note }: { note: string }) => note.startsWith('left'));
    expect(left.map(({ state, jobs }: Record<string, unknown>) => [state, jobs])).to.deep.equal([
      ['scheduled', 1],
      ['paused', 1],
      ['waiting-children', 1],
    ]);
    const paused = await run('flows', '--paused');
    expect(Object.keys(await messagesOf(paused))).to.include('aside');
  });

  it('writes nothing to the source, so that a replica that takes no writes will do', async () => {
    await everyState('kept');
    const dump = async () => {
      const keys = (await store.keys('bull:kept:*')).sort();
      return Promise.all(keys.map(async (key) => [key, (await store.dump(key))?.toString()]));
    };
    const before = await dump();
    // Of a server that is not there.
    await store.replicaof('127.0.0.1', 1);
    const outcome = await run('kept', '--failed');
    await store.replicaof('NO', 'ONE');
    expect(outcome.status).to.equal(0);
    expect(await dump()).to.deep.equal(before);
  });

  it('takes jobs in the order in which a worker of BullMQ would, lifo ones first', async () => {
    const queue = await queueOf('ordered');
    for (const id of ['a', 'b', 'c']) await queue.add('x', {}, { jobId: id, lifo: id === 'c' });
    expect(await received(await run('ordered'))).to.deep.equal(['c', 'a', 'b']);
  });

  it('goes on where it was interrupted, once there is room', async () => {
    const queue = await queueOf('large');
    await queue.addBulk(Array.from({ length: 250 }, (_, i) => ({ name: 'x', data: { i } })));
    const { id } = await world.mustPost('/mailboxes', { name: 'large', backlogLimit: 130 });
    const full = await run('large');
    expect(full.status).to.equal(1);
    expect(full.stderr).to.match(/takes 130 more messages, and 250 are to be sent: raise its backlogLimit\n/);
    expect(full.stderr).to.match(/BACKLOG_FULL.*run the import again/);
    await world.call('PATCH', `/mailboxes/${id}`, { backlogLimit: 1_000 });
    const again = await run('large');
    expect([again.status, again.stderr, again.report.sent, again.report.known]).to.deep.equal([0, '', 120, 130]);
    expect(counts(again)).to.include({ waiting: '250 of 250' });
  });

  it('fails, naming each, when jobs cannot be sent, or their ids are of other messages', async () => {
    const queue = await queueOf('odd');
    const { id } = await world.mustPost('/mailboxes', { name: 'odd' });
    const scopeId = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
    const other = await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1, workKey: 'taken' });
    await queue.add('x', { text: 'x'.repeat(70_000) }, { jobId: 'long' });
    await queue.add('x', {}, { jobId: 'late', delay: 40 * 86_400_000 });
    for (const jobId of ['taken', 'rounded', 'fine']) await queue.add('x', {}, { jobId });
    await store.hset('bull:odd:rounded', 'data', '{"id":12345678901234567890}');
    const outcome = await run('odd');
    expect(outcome.status).to.equal(1);
    expect(outcome.stderr).to.include('"code":"IMPORT_INCOMPLETE","message":"1 of 5 jobs are in the mailbox');
    const reasons = Object.fromEntries(
      outcome.report.refused.map(({ jobId, reason }: Record<string, string>) => [jobId, reason]),
    );
    expect(reasons['long']).to.match(/^its name and data have 70\d\d\d bytes, and the space takes 65536$/);
    expect(reasons['late']).to.match(/^it is due on 20.*, and the longest delay is 30 days$/);
    expect(reasons['rounded']).to.equal('its data has a number that would be rounded, 12345678901234567890');
    expect(reasons['taken']).to.equal(`the mailbox has another message with this workKey: ${other.id}`);
    for (const jobId of Object.keys(reasons)) expect(outcome.stderr).to.include(`job ${jobId} is left: `);
    // A job that has been changed since it was sent.
    await store.hset('bull:odd:fine', 'data', '{"changed":true}');
    const changed = (await run('odd')).report.refused.find(({ jobId }: { jobId: string }) => jobId === 'fine');
    expect(changed.reason).to.equal('the mailbox has a message of this job with another payload');
  });

  it('warns of a queue that is not paused; refuses one that does not exist', async () => {
    const queue = await queueOf('running');
    await queue.resume();
    const { status, stderr } = await run('running', '--dry-run');
    expect([status, stderr]).to.deep.equal([
      0,
      'the queue running is not paused: unless its workers are stopped, they do what is imported, too\n',
    ]);
    const missing = await run('nothing');
    expect(missing.status).to.equal(1);
    expect(missing.stderr).to.match(/VALIDATION_FAILED.*there is no queue .*nothing.* with the prefix .*bull/);
  });

  it('reads a queue of a Redis Cluster, through any of its nodes', async () => {
    const cluster = await TestCluster.start(2);
    const nodes = await connect(cluster.url, 'patient');
    try {
      // BullMQ needs all keys of a queue in one slot.
      const prefix = '{bull}';
      const queue = new Queue('spread', { connection: nodes as unknown as ConnectionOptions, prefix });
      await queue.pause();
      await queue.add('charge', { cents: 1 }, { jobId: 'now' });
      await queue.add('charge', { cents: 2 }, { jobId: 'later', delay: 3_600_000 });
      await queue.close();
      for (const { port } of cluster.masters) {
        const redis = `redis://127.0.0.1:${port}`;
        const outcome = await run('spread', '--redis', redis, '--prefix', prefix, '--mailbox', `of ${port}`);
        expect([outcome.status, outcome.stderr]).to.deep.equal([0, '']);
        expect(counts(outcome)).to.include({ waiting: '1 of 1', delayed: '1 of 1' });
        expect(Object.keys(await messagesOf(outcome))).to.have.members(['now', 'later']);
      }
      const missing = await run('spread', '--redis', cluster.url);
      expect(missing.stderr).to.include('there is no queue \\"spread\\" with the prefix \\"bull\\"');
    } finally {
      nodes.disconnect();
      await cluster.stop();
    }
  });

  it('works from the built program, whose bundle loads BullMQ on demand', async () => {
    const queue = await queueOf('built');
    await queue.add('x', {});
    const args = ['dist/cli/main.js', 'import', 'bullmq', '--queue', 'built', '--dry-run'];
    const settings = { MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: world.apiKey };
    const env = { ...process.env, ...settings, BULLMQ_REDIS_URL: source.url };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
    expect(JSON.parse(stdout)).to.include({ sent: 1 });
  });

  it(`imports ${many(300, 10_000).toLocaleString('en')} jobs of a real queue`, async () => {
    const queue = await queueOf('many');
    const jobs = many(300, 10_000);
    const made = Array.from({ length: jobs }, (_, i) => ({
      ...{ name: 'page', data: { i, text: 'x'.repeat(100) } },
      opts: { ...(i % 3 === 1 && { priority: (i % 20) + 1 }), ...(i % 3 === 2 && { delay: 3_600_000 + i }) },
    }));
    for (let first = 0; first < jobs; first += 1_000) await queue.addBulk(made.slice(first, first + 1_000));
    const outcome = await run('many');
    expect([outcome.status, outcome.stderr, outcome.report.sent]).to.deep.equal([0, '', jobs]);
    const third = Math.floor(jobs / 3);
    expect(counts(outcome)).to.deep.equal({
      waiting: `${jobs - 2 * third} of ${jobs - 2 * third}`,
      ...{ prioritized: `${third} of ${third}`, delayed: `${third} of ${third}` },
    });
    expect((await run('many')).report).to.include({ sent: 0, known: jobs });
  }).timeout(longMs);
});
