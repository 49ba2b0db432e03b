import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { redisUrl } from '../support/store.ts';
import { codeOf, type Reply, World } from '../support/world.ts';

interface Result {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
  readonly replayed: boolean;
  readonly retryAfter?: number;
}
type Call = Record<string, unknown>;

const newKey = () => ({ idempotencyKey: randomUUID() });
const minute = 60_000;

/** Posts a batch, with a new Idempotency-Key unless one is given. */
const post = (world: World, calls: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  world.post('/batch', { calls }, headers);

/** The results of a batch, which must not be refused as a whole. */
async function batch(world: World, calls: readonly Call[], headers: Record<string, string> = {}): Promise<Result[]> {
  const reply = await post(world, calls, headers);
  expect(reply.status, reply.text).to.equal(200);
  expect(reply.body.results).to.have.length(calls.length);
  return reply.body.results;
}

/** The status and code of a result: `201`, or `409 BACKLOG_FULL`. */
const outcomeOf = ({ status, body }: Result): string => (body?.error ? `${status} ${body.error.code}` : `${status}`);

/** The bytes of a batch request. */
function bytesOf(world: World, body: string, key: string = randomUUID()): string {
  const head = [
    `POST /v1/spaces/${world.spaceId}/batch HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${world.apiKey}`,
    'Content-Type: application/json',
    `Idempotency-Key: ${key}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

describe('A batch', () => {
  let queue: Queue;
  let world: World;
  let to: { mailboxId: string; scopeId: string };
  const send = (fields: Call = {}): Call => ({ call: 'message.send', ...to, payload: 1, ...fields });
  const recv = (fields: Call = {}): Call => ({
    call: 'message.recv',
    ...to,
    holder: 'h',
    holderSession: 's',
    ...fields,
  });

  beforeEach(async () => {
    queue = await Queue.create();
    world = queue.world;
    to = { mailboxId: queue.id, scopeId: queue.scopeId };
  });

  describe('a reference to a call before it', () => {
    const those = (...indexes: number[]) => indexes.map(($from) => ({ messageId: { $from } }));
    const invalid = '400 VALIDATION_FAILED';

    it('is the id which that call has answered, or another member: a graph of 100 messages is one request', async () => {
      const calls: Call[] = [
        { call: 'group.create', mailboxId: queue.id, condition: 'ALL_TERMINAL' },
        { call: 'task.submit', groupId: { $from: 0 }, taskKey: 'a' },
        send({ scopeId: { $from: 0, member: 'scopeId' }, payload: { $from: 0 }, after: [{ groupId: { $from: 0 } }] }),
      ];
      for (let n = 3; n < 100; n++) calls.push(send({ after: those(...(n % 2 === 0 ? [n - 1, n - 2] : [n - 1])) }));
      const key = { 'Idempotency-Key': randomUUID() };
      const results = await batch(world, calls, key);
      expect(results.filter(({ status }) => status !== 201).map(({ body }) => body.error?.message)).to.deep.equal([]);
      const [group, task, first, second] = results.map(({ body }) => body);
      expect(task.groupId).to.equal(group.id);
      const { body: sent } = await world.get(`/messages/${first.id}`);
      expect(sent).to.deep.include({ scopeId: group.scopeId, payload: { $from: 0 }, state: 'BLOCKED' });
      expect(sent.after).to.deep.equal([{ messageId: null, groupId: group.id, scopeId: null, state: 'OPEN' }]);
      expect((await world.get(`/messages/${second.id}`)).body.blockedBy).to.deep.equal([
        { kind: 'MESSAGE', id: first.id },
      ]);
      const again = await batch(world, calls, key);
      expect(again.map(({ body }) => body.id)).to.deep.equal(results.map(({ body }) => body.id));
      expect((await world.get('/census')).body.messages.BLOCKED).to.equal(98);
      await expectAgreement(world);
    });

    it('is refused for a call behind it, a refused one, a member that is no id, and where no id is taken', async () => {
      const results = await batch(world, [
        send({ after: those(0) }),
        send({ after: those(7) }),
        send({ mailboxId: randomUUID() }),
        send({ after: those(2) }),
        send({ scopeId: { $from: 2 } }),
        send(),
        send({ after: [{ messageId: { $from: 5, member: 'replay' } }] }),
        send({ after: [{ messageId: { $from: 5, else: 1 } }] }),
        send({ after: [{ messageId: { $from: '5' } }] }),
        send({ workKey: { $from: 5 } }),
        send({ after: those(5) }),
      ]);
      expect(results.map(outcomeOf)).to.deep.equal([
        ...[invalid, invalid, '404 MAILBOX_NOT_FOUND', invalid, invalid, '201'],
        ...[invalid, invalid, invalid, invalid, '201'],
      ]);
      expect(results[3]?.body.error.message).to.equal('messageId is of call 2, which was refused');
    });
  });

  describe('its calls', () => {
    it('are answered in order, with the status and body of their single requests, or null without a body', async () => {
      const { id: spare } = await world.mustPost('/mailboxes', { name: 'spare' });
      const results = await batch(world, [
        send({ payload: 'first' }),
        recv(),
        { call: 'mailbox.delete', mailboxId: spare },
        recv(),
        { call: 'budget.create', name: 'b', currency: 'EUR', scale: 2, limitMinor: '5' },
        { call: 'limits.put', maxBacklog: 7 },
        { call: 'mailbox.update', mailboxId: queue.id, name: 'renamed' },
      ]);
      expect(results.map(outcomeOf)).to.deep.equal(['201', '200', '204', '204', '201', '200', '200']);
      const [sent, claim, deleted, none, budget, limits, mailbox] = results;
      expect(sent?.body).to.deep.include({ mailboxId: queue.id, state: 'READY', replay: false });
      expect(claim?.body).to.deep.include({ id: sent?.body.id, payload: 'first' });
      for (const empty of [deleted, none]) expect(empty).to.deep.equal({ status: 204, body: null, replayed: false });
      expect(budget?.body.balances.available).to.equal('5');
      expect(limits?.body.maxBacklog).to.equal(7);
      expect(mailbox?.body.name).to.equal('renamed');
    });

    it('keep payloads value for value, whatever else the batch contains, and may have escaped and repeated names', async () => {
      const payloads = ['12345678901234567890', '1.50', '[]', '{}', 'null', '"},{\\"calls\\":[5]"', '{"calls":[{}]}'];
      const calls = payloads.map(
        (payload) => `{"call" : "message.send","payload": ${payload} ,"mailboxId":"${queue.id}",
        "scopeId":"${queue.scopeId}"}`,
      );
      const twice = `{"calls":[{"call":"x"}],"c\\u0061lls":[ ${calls.join(' ,\n')} ]}`;
      const reply = await world.send('POST', `/v1/spaces/${world.spaceId}/batch`, twice, {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'k',
      });
      expect(reply.body.results.map(outcomeOf)).to.deep.equal(payloads.map(() => '201'));
      const received = await world.post(`/mailboxes/${queue.id}/recv`, {
        ...{ scopeId: queue.scopeId, holder: 'h', holderSession: 's', max: 10 },
      });
      const found = [...received.text.matchAll(/"payload":(.*?),"deadline"/g)].map(([, text]) => text);
      expect(found).to.deep.equal(payloads);
    });

    it('may concern schedules, whose moments are computed between two runs of their script', async () => {
      const schedule = (name: string, timing: Call): Call => ({
        call: 'schedule.create',
        ...newKey(),
        ...{ ...to, name, payload: { n: 1 }, ...timing },
      });
      const results = await batch(world, [
        schedule('nightly', { cron: '0 3 * * *', timezone: 'Europe/Berlin' }),
        schedule('often', { everySeconds: 60 }),
        schedule('nightly', { cron: '0 4 * * *' }),
        schedule('never', { cron: '0 0 30 2 *' }),
      ]);
      expect(results.map(outcomeOf)).to.deep.equal(['201', '201', '409 SCHEDULE_EXISTS', '400 VALIDATION_FAILED']);
      const [nightly, often] = results.map(({ body }) => body.id);
      const changed = await batch(world, [
        { call: 'schedule.trigger', scheduleId: nightly },
        { call: 'schedule.update', scheduleId: nightly, state: 'PAUSED' },
        { call: 'schedule.delete', scheduleId: often },
        recv(),
      ]);
      expect(changed.map(outcomeOf)).to.deep.equal(['200', '200', '204', '200']);
      expect(changed[1]?.body).to.include({ state: 'PAUSED', lastMessageId: changed[3]?.body.id });
    });

    it('must be changes: reads, waiting receives, destinations and batches are refused', async () => {
      const id = randomUUID();
      const refused: readonly Call[] = [
        { call: 'mailbox.list' },
        { call: 'message.view', messageId: id },
        { call: 'event.watch' },
        { call: 'destination.create', url: 'https://127.0.0.1:9/' },
        { call: 'destination.delete', destinationId: id },
        { call: 'delivery.redeliver', deliveryId: id },
        { call: 'batch', calls: [] },
        { call: 'space.list' },
        { call: 'message.toString' },
        { call: 'constructor' },
        { call: 5 },
        { call: null },
        {},
        recv({ waitSeconds: 1 }),
      ];
      const results = await batch(world, [...refused, recv({ waitSeconds: 0 }), recv({ waitSeconds: null }), send()]);
      expect(results.map(outcomeOf)).to.deep.equal([
        ...refused.map(() => '400 VALIDATION_FAILED'),
        ...['204', '204', '201'],
      ]);
      expect(results[0]?.body.error.message).to.match(/^call must be the name of a POST, PUT, PATCH or DELETE/);
      expect(results[12]?.body.error.message).to.match(/^call is missing: it must be the name /);
      expect(results[13]?.body.error.message).to.match(/^waitSeconds must be 0 /);
    });

    it('fail one by one, with the codes of their single requests; the others succeed', async () => {
      const id = randomUUID();
      const results = await batch(world, [
        send({ payload: 'before' }),
        send({ mailboxId: id }),
        send({ mailboxId: 'x' }),
        { call: 'message.send', scopeId: id, payload: 1 },
        send({ colour: 'red' }),
        send({ scopeId: 5 }),
        send({ ['__proto__']: 1, constructor: 1 }),
        { call: 'task.submit', groupId: id, taskKey: 'a' },
        { call: 'budget.settle', budgetId: id, reservationId: id, amountMinor: '1', workKey: 'w' },
        { call: 'message.complete', messageId: id, token: 'x', result: { payload: 1, scopeId: id } },
        { call: 'message.complete', messageId: id, token: 'x' },
        { call: 'group.create', mailboxId: id, condition: 'ALL_TERMINAL' },
        send({ payload: 'after' }),
      ]);
      expect(results.map(outcomeOf)).to.deep.equal([
        '201',
        '404 MAILBOX_NOT_FOUND',
        ...Array(5).fill('400 VALIDATION_FAILED'),
        '404 GROUP_NOT_FOUND',
        '404 BUDGET_NOT_FOUND',
        '400 VALIDATION_FAILED',
        '404 MESSAGE_NOT_FOUND',
        '409 MAILBOX_NOT_FOUND',
        '201',
      ]);
      const message = (index: number): string => results[index]?.body.error.message;
      expect(message(2)).to.match(/^mailboxId must be a uuid, like /);
      expect(message(3)).to.match(/^mailboxId is missing: it must be a uuid, like /);
      expect(message(4)).to.match(/^colour is not a field of this request, which takes scopeId, payload, /);
      expect(message(9)).to.match(/^result.mailboxId and result.scopeId must be sent together/);
      expect((await queue.record()).counts.ready).to.equal(2);
      await expectAgreement(world);
    });

    it('calls that exceed the limits of a single request, or nest too deeply, fail one by one', async () => {
      const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
      const results = await batch(world, [
        send({ payload: 'x'.repeat(65_535) }),
        send({ payload: 'x'.repeat(300_000) }),
        send({ payload: deep(511) }),
        send({ payload: deep(512) }),
        send(),
      ]);
      expect(results.map(outcomeOf)).to.deep.equal([
        '413 PAYLOAD_TOO_LARGE',
        '413 PAYLOAD_TOO_LARGE',
        '201',
        '400 VALIDATION_FAILED',
        '201',
      ]);
      // The depth is limited also where references are looked for.
      const nested = { ...send(), scopeId: { $from: 0 }, more: deep(3_000) };
      const [, inList] = await batch(world, [send(), nested]);
      const calls = [send(), { ...send(), more: deep(3_000) }];
      const whole = await world.post('/batch', { atomic: true, calls });
      for (const { error } of [inList?.body, whole.body])
        expect(error).to.include({ code: 'VALIDATION_FAILED', message: 'the body nests deeper than 512 levels' });
    });

    it('need their own permissions; the batch itself needs none', async () => {
      const reader = { Authorization: `Bearer ${await world.key(['coordination_read'])}` };
      const writer = { Authorization: `Bearer ${await world.key(['coordination_write'])}` };
      const calls = [send(), { call: 'budget.create', name: 'b', currency: 'EUR', scale: 2, limitMinor: '5' }];
      expect((await batch(world, calls, reader)).map(outcomeOf)).to.deep.equal(Array(2).fill('403 PERMISSION_DENIED'));
      const [sent, denied] = await batch(world, calls, writer);
      expect([sent, denied].map((result) => outcomeOf(result as Result))).to.deep.equal([
        '201',
        '403 PERMISSION_DENIED',
      ]);
      expect(denied?.body.error.message).to.contain('resource_config');
    });

    it('count as requests and operations of their own; the batch counts as none', async () => {
      const before = (await world.get('/usage')).body.days.at(-1);
      await batch(world, [send(), send(), send({ mailboxId: randomUUID() }), recv({ max: 2 }), recv()]);
      const after = (await world.get('/usage')).body.days.at(-1);
      expect(after.operations - before.operations).to.equal(4);
      expect(after.byCall).to.include({ 'message.send': 2, 'message.recv': 2 }).and.not.have.property('batch');
    });
  });

  describe('in order', () => {
    it('applies calls to the same object in sequence, whatever their kind', async () => {
      const { id: barrierId } = await world.mustPost('/barriers', { scopeId: queue.scopeId, target: 2 });
      const arrive = (arrivalKey: string): Call => ({ call: 'barrier.arrive', barrierId, arrivalKey });
      const limit = (backlogLimit: number): Call => ({ call: 'mailbox.update', mailboxId: queue.id, backlogLimit });
      const results = await batch(world, [
        limit(1),
        ...[send({ payload: 1 }), send({ payload: 2 })],
        limit(2),
        ...[send({ payload: 3 }), send({ payload: 4 })],
        ...[recv(), recv(), recv()],
        ...[arrive('a'), arrive('b'), arrive('c')],
        { call: 'barrier.nextEpoch', barrierId },
        arrive('c'),
        send({ payload: 5 }),
      ]);
      expect(results.map(outcomeOf)).to.deep.equal([
        '200',
        ...['201', '409 BACKLOG_FULL'],
        '200',
        ...['201', '409 BACKLOG_FULL'],
        ...['200', '200', '204'],
        ...['200', '200', '409 BARRIER_RELEASED'],
        ...['200', '200'],
        '409 BACKLOG_FULL',
      ]);
      expect(results.slice(6, 8).map(({ body }) => body.payload)).to.deep.equal([1, 3]);
      expect(results[13]?.body).to.include({ epoch: 2, arrivals: 1 });
    });

    it('sends and receives 100 messages in the order of the list, in as few runs as possible', async () => {
      const fcalls = async (): Promise<number> =>
        Number(/cmdstat_fcall:calls=(\d+)/.exec(await world.service.store.info('commandstats'))?.[1]);
      const before = await fcalls();
      await batch(
        world,
        Array.from({ length: 100 }, (_, payload) => send({ payload })),
      );
      expect((await fcalls()) - before).to.be.at.most(5);
      const [received] = await batch(world, [recv({ max: 100 })]);
      const payloads = received?.body.messages.map(({ payload }: { payload: number }) => payload);
      expect(payloads).to.deep.equal(Array.from({ length: 100 }, (_, n) => n));
      await expectAgreement(world);
    });

    it('lets calls that wait for due changes delay those after them', async () => {
      const start = Date.now();
      await world.at(start);
      const other = randomUUID();
      // More than one call makes ready itself: the first receive is repeated, while the second could run.
      const calls = Array.from({ length: 60 }, (_, payload) => send({ payload, delaySeconds: 1 }));
      await batch(world, [...calls, send({ scopeId: other, payload: 'there' })]);
      await world.at(start + 2000);
      const [here, there] = await batch(world, [recv(), recv({ scopeId: other })]);
      expect([here?.body.payload, there?.body.payload]).to.deep.equal([0, 'there']);
      const { events } = (await world.get('/watch?types=message.claimed')).body;
      expect(events.map(({ aggregateId }: { aggregateId: string }) => aggregateId)).to.deep.equal([
        here?.body.id,
        there?.body.id,
      ]);
      await expectAgreement(world);
    });

    it('applies leases, waits and deadlines that have passed before its first call', async () => {
      const start = Date.now();
      await world.at(start);
      await queue.sent();
      const claim = await queue.claim({ leaseSeconds: 5 });
      await world.at(start + 6000);
      const [again, complete] = await batch(world, [
        recv(),
        { call: 'message.complete', messageId: claim.id, token: claim.token },
        send(),
      ]);
      expect(again?.body).to.include({ id: claim.id, attempt: 2 });
      expect(outcomeOf(complete as Result)).to.equal('409 CLAIM_LOST');
    });
  });

  describe('with receives', () => {
    it('returns at most 4 MiB in total: a receive without room is 204 and claims nothing', async () => {
      const payload = 'x'.repeat(65_534);
      for (let n = 0; n < 3; n++)
        await batch(
          world,
          Array.from({ length: 30 }, () => send({ payload })),
        );
      const one = (await queue.claim({ max: 100 })).messages.length;
      expect(one).to.equal(62);
      await batch(
        world,
        Array.from({ length: 31 }, () => send({ payload })),
      );
      await batch(
        world,
        Array.from({ length: 20 }, () => send({ payload })),
      );
      const results = await batch(world, [
        recv({ max: 40 }),
        send({ payload: 'small' }),
        recv(),
        ...Array.from({ length: 30 }, () => recv()),
        recv({ max: 2 }),
      ]);
      // With the records of the messages.
      expect(Buffer.byteLength(JSON.stringify(results))).to.be.below(4 * 1024 * 1024);
      const messages = results.map(({ body }) => body?.messages?.length ?? (body?.token ? 1 : 0));
      expect(messages).to.deep.equal([40, 0, ...Array(21).fill(1), ...Array(10).fill(0), 0]);
      expect(results.at(-1)).to.deep.equal({ status: 204, body: null, replayed: false });
      expect((await queue.record()).counts).to.include({ claimed: 123, ready: 19 });
      await expectAgreement(world);
    });
  });

  describe('with idempotency keys', () => {
    it("uses each call's own key, or the batch's with the call's index, which may exceed 255 characters", async () => {
      const bare = { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json' };
      const unkeyed = await world.send(
        'POST',
        `/v1/spaces/${world.spaceId}/batch`,
        JSON.stringify({
          calls: [send(), send(newKey()), send({ idempotencyKey: null }), recv(), { ...recv(), ...newKey() }],
        }),
        bare,
      );
      expect(unkeyed.body.results.map(outcomeOf)).to.deep.equal([
        '400 IDEMPOTENCY_KEY_REQUIRED',
        '201',
        '400 IDEMPOTENCY_KEY_REQUIRED',
        ...['200', '204'],
      ]);
      expect(unkeyed.body.results[0].body.error.message).to.match(/^idempotencyKey is missing: send 1 to 255 /);
      const headers = { 'Idempotency-Key': 'k'.repeat(255) };
      const calls = Array.from({ length: 12 }, (_, payload) => send({ payload }));
      const first = await batch(world, calls, headers);
      const again = await batch(world, calls, headers);
      expect(first.map(outcomeOf)).to.deep.equal(Array(12).fill('201'));
      expect(again.map(outcomeOf)).to.deep.equal(Array(12).fill('200'));
      expect(first.every(({ replayed }) => !replayed) && again.every(({ replayed }) => replayed)).to.equal(true);
      expect(again.map(({ body }) => body)).to.deep.equal(first.map(({ body }) => ({ ...body, replay: true })));
      for (const idempotencyKey of ['', 'a b', 'x'.repeat(256), 5, true, {}]) {
        const [refused] = await batch(world, [send({ idempotencyKey })]);
        expect(outcomeOf(refused as Result)).to.equal('400 IDEMPOTENCY_KEY_INVALID');
        expect(refused?.body.error.message).to.match(/^idempotencyKey must be 1 to 255 /);
      }
      expect((await queue.record()).counts.ready).to.equal(12);
    });

    it('replays each call by itself; another call under its key is 422, and failed ones are executed again', async () => {
      const key = { 'Idempotency-Key': 'one' };
      const budget = { call: 'budget.create', name: 'b', currency: 'EUR', scale: 2, limitMinor: '5' };
      const gone = { call: 'mailbox.delete', mailboxId: queue.id };
      await queue.sent();
      const [created, busy] = await batch(world, [budget, gone, send({ payload: 'a' })], key);
      expect([created, busy].map((result) => outcomeOf(result as Result))).to.deep.equal([
        '201',
        '409 MAILBOX_NOT_EMPTY',
      ]);
      const again = await batch(world, [budget, { ...gone, mailboxId: randomUUID() }, send({ payload: 'b' })], key);
      expect(again.map(outcomeOf)).to.deep.equal(['201', '404 MAILBOX_NOT_FOUND', '422 IDEMPOTENCY_KEY_REUSED']);
      expect(again[0]).to.deep.equal({ ...created, replayed: true });
      const same = send(newKey());
      const twice = await batch(world, [same, same, { ...same, payload: 2 }, recv(newKey())]);
      expect(twice.map(outcomeOf)).to.deep.equal(['201', '200', '422 IDEMPOTENCY_KEY_REUSED', '200']);
      expect(twice.map(({ replayed }) => replayed)).to.deep.equal([false, true, false, false]);
    });

    it('refuses with 422 a key that a single request has used, and vice versa', async () => {
      const body = { scopeId: queue.scopeId, payload: 1 };
      const path = `/mailboxes/${queue.id}/messages`;
      await batch(world, [send(), send({ idempotencyKey: 'mine' })], { 'Idempotency-Key': 'two' });
      for (const key of ['two:0', 'mine'])
        expect(codeOf(await world.post(path, body, { 'Idempotency-Key': key }))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
      expect((await world.post(path, body, { 'Idempotency-Key': 'alone' })).status).to.equal(201);
      expect((await world.post(path, body, { 'Idempotency-Key': 'three:0' })).status).to.equal(201);
      const results = await batch(world, [send(), send({ idempotencyKey: 'alone' })], { 'Idempotency-Key': 'three' });
      expect(results.map(outcomeOf)).to.deep.equal(Array(2).fill('422 IDEMPOTENCY_KEY_REUSED'));
      // No call uses the batch's key itself.
      expect((await world.post(path, body, { 'Idempotency-Key': 'two' })).status).to.equal(201);
    });
  });

  it('passes its request id on to error envelopes and events', async () => {
    const id = 'batch-1';
    const reply = await post(world, [send(), send({ mailboxId: randomUUID() }), { call: 'x' }], { 'X-Request-Id': id });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers.get('X-Request-Id')).to.equal(id);
    for (const { body } of reply.body.results.slice(1)) expect(body.error.requestId).to.equal(id);
    const { events } = (await world.get('/watch?types=message.sent')).body;
    expect(events.map(({ requestId }: { requestId: string }) => requestId)).to.deep.equal([id]);
  });

  it('does not exceed the rates by a single call; a 429 has Retry-After, and recovery calls still succeed', async () => {
    const limited = await Queue.create({}, await World.create({ limits: { requestsPerMinute: 4 } }));
    const start = (Math.floor(Date.now() / minute) + 2) * minute + 10_000;
    await limited.world.at(start);
    const calls = Array.from({ length: 40 }, () => ({ ...send(), mailboxId: limited.id, scopeId: limited.scopeId }));
    const cancel = { call: 'message.cancel', messageId: randomUUID() };
    const reply = await post(limited.world, [...calls, cancel, { call: 'message.send' }, { call: 'x' }]);
    expect(reply.body.results.map(outcomeOf)).to.deep.equal([
      ...Array(4).fill('201'),
      ...Array(36).fill('429 RATE_LIMITED'),
      '404 MESSAGE_NOT_FOUND',
      '429 RATE_LIMITED',
      '400 VALIDATION_FAILED',
    ]);
    for (const { status, retryAfter } of reply.body.results)
      expect(retryAfter).to.equal(status === 429 ? 50 : undefined);
    expect(reply.headers.get('RateLimit')).to.equal('"space";r=0;t=50');
    const again = await post(limited.world, [{ call: 'x' }]);
    expect([again.status, again.headers.get('RateLimit')]).to.deep.equal([200, '"space";r=0;t=50']);
    await limited.world.at(start + minute);
    expect((await post(limited.world, [{ call: 'x' }])).headers.get('RateLimit')).to.equal('"space";r=4;t=50');
    expect((await limited.record()).counts.ready).to.equal(4);
  });

  describe('is refused as a whole, and executes nothing,', () => {
    const whole = async (world: World, text: string, headers: Record<string, string> = {}, spaceId = world.spaceId) =>
      world.send('POST', `/v1/spaces/${spaceId}/batch`, text, {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
        ...headers,
      });

    it('if its body is malformed, a call is no object, or there are too few or too many', async () => {
      const good = JSON.stringify(send());
      const wrong: [string, string, RegExp?][] = [
        [`{"calls":[${good}`, '400 MALFORMED_JSON'],
        ['', '400 VALIDATION_FAILED', /^calls is missing: it must be a list of 1 to 100 calls$/],
        ['{}', '400 VALIDATION_FAILED', /^calls is missing/],
        ['[]', '400 VALIDATION_FAILED', /^the body must be a JSON object$/],
        ['{"calls":[]}', '400 VALIDATION_FAILED', /^calls must be a list of 1 to 100 calls$/],
        ['{"calls":{}}', '400 VALIDATION_FAILED'],
        ['{"calls":null}', '400 VALIDATION_FAILED'],
        [`{"calls":[${good}],"more":1}`, '400 VALIDATION_FAILED', /^more is not a field of the body /],
        [`{"calls":[${good}],"__proto__":1}`, '400 VALIDATION_FAILED'],
        [`{"calls":[${Array(101).fill(good).join()}]}`, '400 VALIDATION_FAILED'],
        ...['5', 'null', '"x"', '[]', '[{}]'].map((bad): [string, string, RegExp] => [
          `{"calls":[${good},${bad}]}`,
          '400 VALIDATION_FAILED',
          /^calls\[1\] must be an object, like /,
        ]),
      ];
      for (const [text, code, message] of wrong) {
        const reply = await whole(world, text);
        expect(codeOf(reply), text.slice(0, 60)).to.equal(code);
        if (message) expect(reply.body.error.message).to.match(message);
        if (code !== '400 MALFORMED_JSON') expect(reply.headers.get('RateLimit')).to.not.equal(null);
      }
      const inherited = await whole(
        world,
        `{"calls":[${good.slice(0, -1)},"__proto__":{"payload":"1,\\"holder\\":2"}}]}`,
      );
      expect(inherited.body.results[0].body.error).to.include({ code: 'VALIDATION_FAILED' });
      const keyed = await whole(world, `{"calls":[${good}]}`, { 'Idempotency-Key': 'a b' });
      expect(codeOf(keyed)).to.equal('400 IDEMPOTENCY_KEY_INVALID');
      expect(codeOf(await whole(world, `{"calls":[${good}]}`, { 'Content-Type': 'text/plain' }))).to.equal(
        '415 UNSUPPORTED_MEDIA_TYPE',
      );
      expect((await queue.record()).counts.ready).to.equal(0);
    });

    it('if the caller or the space is wrong, whatever the calls', async () => {
      const text = JSON.stringify({ calls: [send(), { call: 'x' }] });
      const foreign = await World.create();
      const sibling = await world.anotherSpace();
      const limited = { Authorization: `Bearer ${await world.key(['coordination_write'], [sibling.spaceId])}` };
      const unknown = { Authorization: `Bearer ${world.apiKey.slice(0, -2)}xx` };
      for (const body of [text, '{}', '{"calls":[5]}']) {
        expect(codeOf(await whole(world, body, unknown))).to.equal('401 INVALID_API_KEY');
        expect(codeOf(await whole(world, body, { Authorization: '' }))).to.equal('401 INVALID_API_KEY');
        expect(codeOf(await whole(world, body, {}, foreign.spaceId))).to.equal('404 SPACE_NOT_FOUND');
        expect(codeOf(await whole(world, body, {}, randomUUID()))).to.equal('404 SPACE_NOT_FOUND');
        expect(codeOf(await whole(world, body, {}, 'x'))).to.equal('400 VALIDATION_FAILED');
        const refused = await whole(world, body, limited);
        expect(codeOf(refused)).to.equal('403 PERMISSION_DENIED');
        expect(refused.body.error.message).to.equal('the API key is limited to other spaces');
      }
      expect((await queue.record()).counts.ready).to.equal(0);
      expect((await whole(world, text, {}, world.spaceId.toUpperCase())).status).to.equal(200);
    });

    it('if it is larger than 2 MiB, with one line that names the limit', async () => {
      const limit = 2 * 1024 * 1024;
      const fits = JSON.stringify({ calls: [send()] }).padEnd(limit);
      expect((await whole(world, fits)).status).to.equal(200);
      expect(codeOf(await whole(world, `${fits} `))).to.equal('413 PAYLOAD_TOO_LARGE');
      const large = Array.from({ length: 100 }, () => send({ payload: 'x'.repeat(65_534) }));
      const refused = await post(world, large);
      expect(codeOf(refused)).to.equal('413 PAYLOAD_TOO_LARGE');
      expect(refused.body.error.message).to.equal('the body is larger than 2 MiB: send fewer calls at a time');
      expect((await queue.record()).counts.ready).to.equal(1);
    });
  });

  it('among hundreds in parallel never overspends a budget, duplicates a message or loses its order', async () => {
    const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: '1000' };
    const { id: budgetId } = await world.mustPost('/budgets', budget);
    const reserve = { call: 'budget.reserve', budgetId, scopeId: queue.scopeId, holder: 'h', amountMinor: '7' };
    await world.call('PATCH', `/mailboxes/${queue.id}`, { backlogLimit: 100_000 });
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        batch(world, [
          send({ payload: [n, 0], workKey: `w${n % 60}` }),
          reserve,
          ...(n < 60 ? [send({ payload: [n, 1] }), send({ payload: [n, 2] })] : []),
          recv({ max: 2 }),
          { ...reserve, amountMinor: '3' },
          recv(),
        ]),
      ),
    );
    const { balances } = (await world.get(`/budgets/${budgetId}`)).body;
    const reserved = all.flat().filter(({ body }) => body?.amountMinor !== undefined);
    const sum = reserved.reduce((total, { body }) => total + Number(body.amountMinor), 0);
    expect([balances.reserved, balances.available]).to.deep.equal([`${sum}`, `${1000 - sum}`]);
    expect(sum).to.be.within(998, 1000);
    const claims = all.flat().flatMap(({ body }) => body?.messages ?? (body?.token ? [body] : []));
    const rest = [];
    for (;;) {
      const [found] = await batch(world, [recv({ max: 100 })]);
      if (found?.status === 204) break;
      rest.push(...(found?.body.messages ?? []));
    }
    const ids = [...claims, ...rest].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.have.length(180);
    await expectAgreement(world);
  });

  it('a batch whose connection is cut executes completely or not at all, and once under its keys', async () => {
    const { hostname, port } = new URL(world.url);
    const calls = Array.from({ length: 100 }, (_, payload) => send({ payload }));
    const body = JSON.stringify({ calls });
    const cut = (bytes: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()));
        });
        socket.on('error', reject).on('close', () => resolve());
      });
    const bytes = bytesOf(world, body, 'cut');
    await cut(bytes.slice(0, -20));
    expect((await queue.record()).counts.ready).to.equal(0);
    await cut(bytes);
    const results = await batch(world, calls, { 'Idempotency-Key': 'cut' });
    expect(results.map(({ status }) => status).every((status) => status === 200 || status === 201)).to.equal(true);
    expect((await queue.record()).counts.ready).to.equal(100);
    expect((await batch(world, calls, { 'Idempotency-Key': 'cut' })).every(({ replayed }) => replayed)).to.equal(true);
    await expectAgreement(world);
  });

  it('a batch that arrives slowly costs others nothing', async () => {
    const { hostname, port } = new URL(world.url);
    const body = JSON.stringify({ calls: [send({ payload: 'slow' })] }).padEnd(2 * 1024 * 1024 - 10);
    const bytes = bytesOf(world, body);
    const sockets = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<ReturnType<typeof connect>>((resolve) => {
            const socket = connect(Number(port), hostname, () =>
              socket.write(bytes.slice(0, 1000), () => resolve(socket)),
            );
          }),
      ),
    );
    const fcalls = async () => /cmdstat_fcall:calls=(\d+)/.exec(await world.service.store.info('commandstats'))?.[1];
    const before = await fcalls();
    await new Promise(setImmediate);
    expect(await fcalls(), 'nothing goes to the store before it is whole').to.equal(before);
    expect((await batch(world, [send(), recv()])).map(outcomeOf)).to.deep.equal(['201', '200']);
    expect((await world.get('/mailboxes')).status).to.equal(200);
    const [slow] = sockets;
    const answer = new Promise<string>((resolve) => slow?.once('data', (data) => resolve(String(data))));
    slow?.write(bytes.slice(1000));
    expect(await answer).to.match(/^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    expect((await queue.record()).counts.ready).to.equal(1);
  });

  it('is one request in log and metrics, with the codes of its refused calls', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const service: MusterService = await startService({
      redisUrl: await redisUrl(),
      role: 'api',
      host: '127.0.0.1',
      port: 0,
      log,
    });
    try {
      const there = await World.create({ on: service });
      const { id: mailboxId } = await there.mustPost('/mailboxes', { name: 'jobs' });
      lines.splice(0);
      const missing = { ...send(), mailboxId: randomUUID() };
      await batch(there, [{ ...send(), mailboxId }, missing, missing, { call: 'x' }, { ...send(), mailboxId }]);
      await batch(there, [{ ...send(), mailboxId }]);
      await post(there, []);
      const route = '/v1/spaces/:spaceId/batch';
      const [first, second, third] = lines;
      const refused = { MAILBOX_NOT_FOUND: 2, VALIDATION_FAILED: 1 };
      expect(first).to.deep.include({ route, spaceId: there.spaceId, status: 200, calls: 5, refused });
      expect(second).to.deep.include({ route, calls: 1 }).and.not.have.property('refused');
      expect(third).to.include({ route, status: 400, code: 'VALIDATION_FAILED' }).and.not.have.property('calls');
      const text = await (await fetch(`${service.url}/metrics`)).text();
      expect(text).to.include(`muster_http_requests_total{method="POST",route="${route}",status="200"} 2`);
      expect(text).to.include('muster_refusals_total{code="MAILBOX_NOT_FOUND"} 2');
      expect(text).to.include('muster_refusals_total{code="VALIDATION_FAILED"} 2');
      expect(text).to.match(/muster_script_duration_seconds_count\{script="mailbox\/send"\} 5/);
    } finally {
      await service.stop();
    }
  });
});
