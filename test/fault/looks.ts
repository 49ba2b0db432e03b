import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Access } from '../support/processes.ts';
import type { Heard } from './caller.ts';
import type { Operation } from './history.ts';
import { everySeconds } from './scenes/clockwork.ts';
import { balances } from './scenes/purse.ts';
import { quotaUnits, settledUnits } from './scenes/quota.ts';
import type { Workload } from './workload.ts';

type Body = Heard['body'];

/** Reads everything that the workload made, as operations at the end of its history. */
export class Looks {
  readonly #load: Workload;
  readonly #clock: 'steady' | 'jumping';
  readonly #seen: Operation[] = [];

  constructor(load: Workload, clock: 'steady' | 'jumping') {
    this.#load = load;
    this.#clock = clock;
  }

  async all(): Promise<Operation[]> {
    const mailboxes = new Map(this.#load.queues.map(({ mailboxId, access }) => [mailboxId, access]));
    for (const [id, access] of mailboxes) await this.#messages(access, id);
    for (const access of this.#load.spaces) {
      for (const one of await this.#list(access, 'budgets')) {
        const level = one.parentBudgetId === null ? 0 : 1;
        this.#add(`budget ${one.parentBudgetId ?? one.id}`, one.at, balances(one), { level });
        await this.#labels(access, one);
      }
      for (const one of await this.#list(access, 'barriers'))
        this.#add(`barrier ${one.id}`, one.at, { epoch: one.epoch, arrivals: one.arrivals });
      for (const { id, at, heldUnits } of await this.#list(access, 'pools')) this.#add(`pool ${id}`, at, { heldUnits });
      const places = new Set(this.#load.history.flatMap(({ kind, object }) => (kind === 'stand' ? object : [])));
      for (const { id, at, state, heldAt } of await this.#list(access, 'holds', '/pool-holds'))
        if (places.has(`place ${id}`)) this.#add(`place ${id}`, at, { state: heldAt === null ? state : 'GRANTED' });
      for (const { id, at, state, answer } of await this.#list(access, 'questions'))
        this.#add(`question ${id}`, at, { state, answer: answer ?? '' });
      for (const one of await this.#list(access, 'allowances')) {
        const kind = this.#kindOf(one);
        if (kind === 'gauge') this.#add(`gauge ${one.id}`, one.at, { available: one.availableUnits });
        else if (kind === 'tokens') this.#add(`tokens ${one.id}`, one.at, { used: one.usedUnits });
        else await this.#allowance(access, one);
      }
    }
    for (const { access, scopeId } of this.#load.sheets) await this.#notes(access, scopeId);
    await this.#memos();
    await this.#groups();
    await this.#runs();
    await this.#schedules();
    return this.#seen;
  }

  /** The kind under which a scene made an allowance. */
  #kindOf({ id }: Body): string | undefined {
    return ['gauge', 'tokens'].find((kind) => this.#of(`create ${kind}`, `${kind} ${id}`).length > 0);
  }

  /** Expects that every settled amount has a label. */
  async #labels(access: Access, { id }: Body): Promise<void> {
    const { spentByLabel, balances } = await this.#get(access, `/budgets/${id}`);
    const labelled = Object.values(spentByLabel).reduce((sum: number, spent) => sum + Number(spent), 0);
    expect([id, labelled]).to.deep.equal([id, Number(balances.settled) + Number(balances.overdrawn)]);
  }

  #add(object: string, at: number, value: Operation['value'], input: Operation['input'] = {}): void {
    const times = { invokedAt: at, respondedAt: performance.now() };
    this.#seen.push({
      id: '',
      client: -1,
      kind: 'look',
      object,
      input,
      ...times,
      outcome: 'ok',
      value,
    });
  }

  async #get(access: Access, path: string): Promise<Body> {
    const { status, body } = await this.#load.caller.insist(access, path, randomUUID());
    expect([path, status]).to.deep.equal([path, 200]);
    return body;
  }

  async #list(access: Access, plural: string, path = `/${plural}`, query = ''): Promise<Body[]> {
    const all: Body[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at = performance.now();
      const body: Body = await this.#get(access, `${path}?limit=200${query}${cursor && `&cursor=${cursor}`}`);
      all.push(...body[plural].map((one: Body) => ({ ...one, at })));
      cursor = body.nextCursor;
    }
    return all;
  }

  async #messages(access: Access, mailboxId: string): Promise<void> {
    for (const { id, state, attempts, lastError, groupId, at } of await this.#list(
      access,
      'messages',
      `/mailboxes/${mailboxId}/messages`,
    )) {
      const byItself = /^the (lease) ended at |^the claim was (released) by /.exec(lastError ?? '');
      const error = byItself?.[1] ?? byItself?.[2] ?? lastError ?? '';
      if (groupId === null) this.#add(`message ${id}`, at, { state, attempts, error });
    }
  }

  #of(kind: string, object: string): Operation[] {
    return this.#load.history.filter((one) => one.kind === kind && one.object === object && one.outcome === 'ok');
  }

  async #notes(access: Access, scopeId: string): Promise<void> {
    const at = performance.now();
    const { notes } = await this.#get(access, `/scopes/${scopeId}/notes?values=true`);
    const value = Object.fromEntries(notes.map((note: Body) => [note.key, `${note.version} ${note.value}`]));
    this.#add(`notes ${scopeId}`, at, value);
  }

  /** Expects that every kept step is still there. */
  async #memos(): Promise<void> {
    const kept = new Map<string, Access>();
    for (const queue of this.#load.queues) kept.set(queue.scopeId, queue.access);
    for (const [scopeId, access] of kept) {
      if (scopeId === '*') continue;
      for (const { key, value, at } of await this.#list(access, 'notes', `/scopes/${scopeId}/notes`, '&values=true')) {
        const [, messageId, step] = key.split(':');
        this.#add(`memo ${messageId}/${step}`, at, { value });
      }
    }
    const answered = this.#load.history.filter(({ kind, outcome }) => kind === 'put memo' && outcome === 'ok');
    const seen = new Set(this.#seen.map(({ object }) => object));
    expect(
      answered.map(({ object }) => object).filter((object) => !seen.has(object)),
      'memos',
    ).to.deep.equal([]);
  }

  /** Units are spent by acknowledged consumptions and grants, once each, and never more than there are. */
  async #allowance(access: Access, { id }: Body): Promise<void> {
    const object = `allowance ${id}`;
    const spent = new Map(this.#of('consume', object).map(({ value }) => [value['id'], Number(value['units'])]));
    for (const { value } of this.#of('wait', object)) {
      const { state } = await this.#get(access, `/allowance-waiters/${value['id']}`);
      expect(state, `${value['id']} was ${value['state']}`).to.match(/^(GRANTED|EXPIRED|CANCELLED)$/);
      if (value['state'] === 'GRANTED') expect(state).to.equal('GRANTED');
      if (state === 'GRANTED') spent.set(value['id'], Number(value['units']));
    }
    for (const { input } of this.#of('cancel', object)) expect(spent.has(input['id'] ?? '')).to.equal(false);
    // This includes settlements whose answer was lost: each takes effect once, and is repeated here.
    for (const { input } of this.#load.history.filter((one) => one.kind === 'settle units' && one.object === object)) {
      const path = `/allowances/${id}/consumptions/${input['id']}/settle`;
      const { status, body } = await this.#load.caller.insist(access, path, randomUUID(), { units: settledUnits });
      expect([path, status]).to.deep.equal([path, 200]);
      expect(spent.has(body.id), path).to.equal(true);
      spent.set(body.id, settledUnits);
    }
    const { usedUnits } = await this.#get(access, `/allowances/${id}`);
    const sum = [...spent.values()].reduce((total, units) => total + units, 0);
    expect([object, usedUnits]).to.deep.equal([object, sum]);
    expect(usedUnits).to.be.at.most(quotaUnits);
  }

  /** Every acknowledged verdict stands; the group is decided by the second accept, and by nothing else here. */
  async #groups(): Promise<void> {
    for (const access of this.#load.spaces) {
      for (const { id } of await this.#list(access, 'groups', '/task-groups')) {
        const object = `group ${id}`;
        const { members, state, outcome, counts } = await this.#get(access, `/task-groups/${id}`);
        for (const [kind, verdict] of [
          ['accept', 'ACCEPTED'],
          ['reject', 'REJECTED'],
        ] as const)
          for (const { input } of this.#of(kind, object))
            expect(members.find(({ taskId }: Body) => taskId === input['task'])?.verdict).to.equal(verdict);
        expect(members).to.have.length(this.#of('submit', object).length);
        expect(counts.accepted).to.equal(this.#of('accept', object).length);
        if (counts.accepted >= 2) expect([object, state, outcome]).to.deep.equal([object, 'DECIDED', 'SATISFIED']);
      }
    }
  }

  /** Each moment of a schedule has sent one message, or is counted as missed; each trigger has sent one, too. */
  async #schedules(): Promise<void> {
    for (const { access, id, mailboxId } of this.#load.clockworks) {
      const object = `schedule ${id}`;
      const { state, missed, createdAt } = await this.#get(access, `/schedules/${id}`);
      expect([object, state]).to.deep.equal([object, 'ENDED']);
      const messages = await this.#list(access, 'messages', `/mailboxes/${mailboxId}/messages`);
      const keys: (string | null)[] = messages.map(({ workKey }) => workKey);
      const moments = keys.filter((key) => key !== null).map((key) => Date.parse(key.slice(`schedule:${id}:`.length)));
      expect([object, keys.length - moments.length]).to.deep.equal([object, this.#of('trigger', object).length]);
      const periods = moments.map((at) => (at - Date.parse(createdAt)) / (everySeconds * 1000)).sort((a, b) => a - b);
      expect(new Set(periods).size, object).to.equal(periods.length);
      if (this.#clock === 'steady')
        expect([object, periods.at(-1) ?? 0]).to.deep.equal([object, periods.length + missed]);
    }
  }

  /** All that was acknowledged in a run was ended by its cancel, and counted once. */
  async #runs(): Promise<void> {
    for (const { access, scopeId, childId } of this.#load.runs) {
      const object = `run ${scopeId}`;
      for (const id of [scopeId, childId]) {
        const { state, live } = await this.#get(access, `/scopes/${id}`);
        expect([object, state, live]).to.deep.equal([object, 'CANCELLED', { messages: 0, waiters: 0 }]);
      }
      const { body } = await this.#load.caller.insist(access, `/scopes/${scopeId}/cancel`, randomUUID(), {});
      const count = (kind: string): number => this.#of(`${kind} in run`, object).length;
      // A clock that is set forward expires waiters before the cancel reaches them.
      let waiters = 0;
      for (const { value } of this.#of('wait in run', object)) {
        const { state } = await this.#get(access, `/allowance-waiters/${value['id']}`);
        expect(state).to.be.oneOf(['CANCELLED', 'EXPIRED']);
        if (state === 'CANCELLED') waiters++;
      }
      expect([object, body.done, body.cancelled]).to.deep.equal([
        ...[object, true],
        {
          messages: count('send') - count('complete'),
          ...{ barriers: count('barrier'), groups: count('group'), waiters, holds: 0, questions: 0 },
        },
      ]);
    }
  }
}
