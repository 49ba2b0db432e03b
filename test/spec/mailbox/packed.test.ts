import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { longMs, many } from '../../support/long.ts';
import { Twins } from './twins.ts';

/** Numbers that look random, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A random workload on twins. */
class Workload {
  readonly #twins: Twins;
  readonly #random: (below: number) => number;
  readonly scopes = Array.from({ length: 3 }, () => randomUUID());
  readonly mailboxes: string[] = [];
  readonly messages: string[] = [];
  readonly groups: string[] = [];
  readonly tasks: { groupId: string; taskId: string; messageId: string }[] = [];
  readonly #claims: { id: string; token: string; taskId: string | null }[] = [];
  /** So many claims were completed in turn. */
  #done = 0;
  readonly #keys: [path: string, body: unknown, key: string][] = [];

  constructor(twins: Twins, seed: number) {
    this.#twins = twins;
    this.#random = randomOf(seed);
  }

  async begin(): Promise<void> {
    for (const more of [{}, { maxAttempts: 1 }, { mode: 'INBOX' }])
      this.mailboxes.push((await this.#twins.post('/mailboxes', { name: 'm', ...more })).body.id);
    for (const scopeId of this.scopes) await this.#twins.post('/scopes', { scopeId });
    await this.#decided();
  }

  /** A member of a decided group. */
  async #decided(): Promise<void> {
    const [parentScopeId, mailboxId] = [this.scopes[0], this.mailboxes[0]];
    const group = await this.#post('/task-groups', { parentScopeId, mailboxId, condition: 'FIRST_ACCEPTED' });
    const { groupId, scopeId } = group.body;
    const task = await this.#post(`/task-groups/${groupId}/tasks`, { taskKey: 'first', input: 1 });
    this.messages.push(task.body.messageId);
    const claim = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 10 };
    const { token } = (await this.#post(`/mailboxes/${mailboxId}/recv`, claim)).body;
    await this.#post(`/messages/${task.body.messageId}/complete`, { token, result: { payload: 'done' } });
    await this.#post(`/task-groups/${groupId}/tasks/${task.body.taskId}/accept`);
    this.groups.push(groupId);
    this.scopes.push(scopeId);
  }

  /** A few calls in one request. */
  async #batch(): Promise<void> {
    const act = (call: string, more: object = {}) => {
      const messageId = this.#one(this.messages) ?? randomUUID();
      return { call, messageId, ...more, idempotencyKey: randomUUID() };
    };
    const calls = ['cancel', 'requeue', 'cancel', 'requeue'].map((what) => act(`message.${what}`));
    const claims = [this.#one(this.#claims), this.#late(this.#claims)];
    for (const claim of claims)
      if (claim) calls.push({ ...act('message.complete', { token: claim.token }), messageId: claim.id });
    await this.#post('/batch', { calls });
  }

  #one<T>(list: readonly T[]): T | undefined {
    return list[this.#random(list.length)];
  }

  /** Among the newest ones mostly. */
  #late<T>(list: readonly T[]): T | undefined {
    return this.#random(3) === 0 ? this.#one(list) : this.#one(list.slice(-6));
  }

  /** A call that may be repeated later. */
  async #post(path: string, body?: unknown) {
    const key = randomUUID();
    this.#keys.push([path, body, key]);
    return this.#twins.post(path, body, key);
  }

  async step(): Promise<void> {
    const acts = [
      ...Array<() => Promise<void>>(7).fill(() => this.#send()),
      ...Array<() => Promise<void>>(5).fill(() => this.#recv()),
      ...Array<() => Promise<void>>(7).fill(() => this.#complete()),
      ...[() => this.#nack(), () => this.#nack(), () => this.#renew(), () => this.#cancel(), () => this.#cancel()],
      ...[() => this.#requeue(), () => this.#requeue(), () => this.#requeueAll(), () => this.#purge()],
      ...[() => this.#again(), () => this.#again(), () => this.#group(), () => this.#join(), () => this.#join()],
      ...[() => this.#batch(), () => this.#batch(), () => this.#verdict(), () => this.#verdict()],
    ];
    await this.#one(acts)?.();
    await this.#twins.pass(1 + this.#random(500));
  }

  async #send(): Promise<void> {
    const more = [
      {},
      {},
      { workKey: `key ${this.#random(6)}` },
      { deadline: new Date(this.#twins.now + 60_000).toISOString() },
      { delaySeconds: 5 },
    ];
    const payload = { text: 'ü"\n'.repeat(this.#random(120)), n: this.#random(1000) };
    const sent = await this.#post(`/mailboxes/${this.#one(this.mailboxes)}/messages`, {
      ...{ scopeId: this.#one(this.scopes), payload },
      ...this.#one(more),
    });
    if (sent.status < 300) this.messages.push(sent.body.id);
  }

  async #recv(): Promise<void> {
    const more = this.#random(2) === 0 ? { scopeId: '*', max: 3 } : { scopeId: this.#one(this.scopes), max: 1 };
    const body = { holder: 'h', holderSession: 's', leaseSeconds: 10, ...more };
    const found = await this.#post(`/mailboxes/${this.#one(this.mailboxes)}/recv`, body);
    if (found.status === 200) this.#claims.push(...(found.body.messages ?? [found.body]));
  }

  async #complete(): Promise<void> {
    const claim = this.#random(4) === 0 ? this.#one(this.#claims) : this.#claims[this.#done++];
    const payload = { n: this.#random(9) };
    const to = { mailboxId: this.#one(this.mailboxes), scopeId: this.#one(this.scopes) };
    const results = [undefined, { payload }, { payload, ...to }, { payload, ...to, workKey: `key ${this.#random(6)}` }];
    const result = this.#one(results);
    if (claim) await this.#post(`/messages/${claim.id}/complete`, { token: claim.token, ...(result && { result }) });
  }

  async #nack(): Promise<void> {
    const claim = this.#late(this.#claims);
    const retry = this.#random(2) === 0;
    if (claim) await this.#post(`/messages/${claim.id}/nack`, { token: claim.token, retry, error: 'no' });
  }

  async #renew(): Promise<void> {
    const claim = this.#late(this.#claims);
    if (claim) await this.#post(`/messages/${claim.id}/renew`, { token: claim.token, progress: { page: 1 } });
  }

  async #cancel(): Promise<void> {
    const id = this.#late(this.messages);
    if (id) await this.#post(`/messages/${id}/cancel`);
  }

  async #requeue(): Promise<void> {
    const id = this.#one(this.messages);
    if (id) await this.#post(`/messages/${id}/requeue`, this.#random(3) === 0 ? { delaySeconds: 2 } : {});
  }

  async #requeueAll(): Promise<void> {
    const state = this.#one(['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']);
    const scope = this.#random(2) === 0 ? { scopeId: this.#one(this.scopes) } : {};
    await this.#post(`/mailboxes/${this.#one(this.mailboxes)}/requeue`, { state, max: 1 + this.#random(3), ...scope });
  }

  async #purge(): Promise<void> {
    const finished = this.#random(3) === 0;
    await this.#post(`/mailboxes/${this.#one(this.mailboxes)}/purge`, { max: 1 + this.#random(3), finished });
  }

  /** A request that was made before. */
  async #again(): Promise<void> {
    const known = this.#one(this.#keys);
    if (known) await this.#twins.post(...known);
  }

  async #group(): Promise<void> {
    const last = this.groups.at(-1);
    if (!last || this.#random(3) === 0) {
      const condition = this.#one(['ALL_TERMINAL', 'FIRST_ACCEPTED']);
      const body = { parentScopeId: this.#one(this.scopes), mailboxId: this.mailboxes[0], condition };
      const created = await this.#post('/task-groups', body);
      this.groups.push(created.body.groupId);
      this.scopes.push(created.body.scopeId);
    } else if (this.#random(4) === 0) await this.#post(`/task-groups/${last}/seal`);
    else {
      const { status, body } = await this.#post(`/task-groups/${last}/tasks`, {
        taskKey: `t${this.#random(99)}`,
        input: 1,
      });
      if (status !== 201) return;
      this.messages.push(body.messageId);
      this.tasks.push({ groupId: last, taskId: body.taskId, messageId: body.messageId });
    }
  }

  async #verdict(): Promise<void> {
    const task = this.#late(this.tasks);
    const verdict = this.#one(['accept', 'accept', 'reject']);
    if (task) await this.#post(`/task-groups/${task.groupId}/tasks/${task.taskId}/${verdict}`);
  }

  /** Outside tasks of every state join. */
  async #join(): Promise<void> {
    const [groupId, taskId] = [this.groups.at(-1), this.#one(this.messages)];
    if (groupId && taskId) await this.#post(`/task-groups/${groupId}/join-task`, { taskId });
  }

  /** Every read there is. */
  async readAll(): Promise<void> {
    const twins = this.#twins;
    for (const id of this.messages) await twins.get(`/messages/${id}`);
    for (const id of this.mailboxes) {
      const filters = ['', '&state=ACKED', '&state=READY,CANCELLED,FAILED', '&state=CANCELLED', '&workKey=key%203'];
      filters.push(...this.scopes.slice(0, 4).map((scopeId) => `&scopeId=${scopeId}&state=ACKED,REJECTED`));
      for (const filter of filters)
        for (const limit of filter === '' ? [1 + this.#random(7), 200] : [8]) await this.#pages(id, limit, filter);
      await twins.get(`/mailboxes/${id}`);
    }
    for (const scopeId of this.scopes) await twins.get(`/ops/runs/${scopeId}`);
    for (const id of this.groups) await twins.get(`/task-groups/${id}`);
    for (const path of ['/task-groups', '/census', '/backlog', '/usage', '/ops/waits', '/events?limit=500', '/scopes'])
      await twins.get(path);
    await twins.get(`/messages/${randomUUID()}`);
  }

  async #pages(mailboxId: string, limit: number, filter: string): Promise<void> {
    for (let cursor = ''; ; ) {
      const { body } = await this.#twins.get(`/mailboxes/${mailboxId}/messages?limit=${limit}${filter}${cursor}`);
      if (!body.nextCursor) return;
      cursor = `&cursor=${body.nextCursor}`;
    }
  }
}

describe('Finished messages when they are packed', function () {
  this.timeout(longMs);

  for (const seed of Array.from({ length: many(1, 20) }, (_, n) => n + 1))
    it(`answer every call as before (seed ${seed})`, async () => {
      const twins = await Twins.create({ plan: 'scale' });
      const workload = new Workload(twins, seed);
      const random = randomOf(seed + 1000);
      await workload.begin();
      for (let round = 0; round < 2; round++) {
        for (let step = 0; step < 90; step++) {
          await workload.step();
          if (random(8) === 0) await twins.pack(1 + random(8), 10_000);
        }
        await twins.pass(random(2) * 20_000);
        await twins.pack(1 + random(20), 10_000);
        await workload.readAll();
      }
      const { store } = twins.packed.service;
      const segments = await store.zrange(`${twins.packed.prefix}:messageSegments`, '0', '-1');
      const packed = segments.reduce((sum, entry) => sum + Number(entry.split(' ')[4]), 0);
      expect(packed).to.be.greaterThan((workload.messages.length - workload.tasks.length) / 4);
      expect(await store.zcard(`${twins.packed.prefix}:unpackedMessages`)).to.be.greaterThan(0);
      // The member of a decided group.
      expect(await store.exists(`${twins.packed.prefix}:message:${workload.messages[0]}`)).to.equal(0);
      for (const world of twins.worlds) await expectAgreement(world);
    });

  it('may lie in more than fifty segments and still answer one call', async () => {
    const twins = await Twins.create();
    const scopeId = randomUUID();
    const mailboxId = (await twins.post('/mailboxes', { name: 'm' })).body.id;
    for (let n = 0; n < 60; n++) {
      const group = { parentScopeId: scopeId, mailboxId, condition: 'ALL_TERMINAL' };
      const { groupId, scopeId: gate } = (await twins.post('/task-groups', group)).body;
      await twins.post(`/task-groups/${groupId}/tasks`, { taskKey: 'a', input: n });
      const from = { scopeId: gate, holder: 'h', holderSession: 's', leaseSeconds: 60 };
      const { id, token } = (await twins.post(`/mailboxes/${mailboxId}/recv`, from)).body;
      await twins.post(`/messages/${id}/complete`, { token });
      await twins.post(`/task-groups/${groupId}/seal`, {});
    }
    await twins.pass(20_000);
    await twins.pack(1, 10_000);
    expect((await twins.get(`/ops/runs/${scopeId}`)).status).to.equal(200);
  });

  it('refuse another result of the same token, and know the first one', async () => {
    const twins = await Twins.create();
    const scopeId = randomUUID();
    const mailboxId = (await twins.post('/mailboxes', { name: 'm' })).body.id;
    await twins.post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    const from = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 60 };
    const { id, token } = (await twins.post(`/mailboxes/${mailboxId}/recv`, from)).body;
    await twins.post(`/messages/${id}/complete`, { token, result: { payload: { a: 1 } } });
    await twins.pass(20_000);
    await twins.pack(1, 10_000);
    const [, packed] = twins.worlds;
    expect(await packed.service.store.zcard(`${packed.prefix}:messageSegments`)).to.equal(1);
    const again = (payload: unknown) => twins.post(`/messages/${id}/complete`, { token, result: { payload } });
    const refused = await again({ a: 2 });
    expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'RESULT_CONFLICT']);
    expect((await again({ a: 1 })).body.replay).to.equal(true);
  });
});
