import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Reply } from '../../src/engine/declare/value.ts';
import { Refusal } from '../../src/engine/redis/scripts.ts';
import { randomTail } from '../../src/engine/route/args.ts';
import { longMs, many } from '../support/long.ts';
import { World } from '../support/world.ts';
import { callIn, digest, fingerprint, withNumberedIds } from './gathered-support.ts';

type Kind = 'budget.reserve' | 'budget.settle' | 'barrier.arrive' | 'allowance.consume' | 'note.put';

interface Call {
  readonly space: number;
  readonly idempotencyKey: number;
  readonly scope: number;
  readonly key: number;
  readonly amount: number;
  readonly which: number;
}

const at = Date.UTC(2030, 0, 1, 12);
const amounts = ['1', '400', '999999999', '1000000001', '123456789012345678', '900000000000000000', '0'];

/** One organization with two spaces, each with a budget, a barrier and an allowance; all instances are equal. */
class Rooms {
  readonly worlds: World[] = [];
  readonly parts: { budgetId: string; barrierId: string; allowanceId: string }[] = [];
  readonly scopes = Array.from({ length: 4 }, () => randomUUID());
  readonly reservations: string[] = [];
  /** Answers and refusals, in order. */
  readonly answers: unknown[] = [];

  static async create(): Promise<Rooms> {
    const rooms = new Rooms();
    const world = await World.create();
    await world.at(at);
    rooms.worlds.push(world, await world.anotherSpace());
    for (const one of rooms.worlds) {
      const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: '999999999999999999' };
      rooms.parts.push({
        budgetId: (await one.mustPost('/budgets', budget)).id,
        barrierId: (await one.mustPost('/barriers', { scopeId: rooms.scopes[0], target: 3 })).id,
        allowanceId: (await one.mustPost('/allowances', { name: 'a', unitsLimit: 9, windowSeconds: 60 })).id,
      });
    }
    return rooms;
  }

  #args(kind: Kind, { space, scope, key, amount, which }: Call): Record<string, string | number> {
    const { budgetId = '', barrierId = '', allowanceId = '' } = this.parts[space] ?? {};
    const scopeId = this.scopes[scope] ?? '';
    const workKey = `key ${key}`;
    const amountMinor = amounts[amount] ?? '';
    const tail = randomTail();
    const reservationId = this.reservations[which % Math.max(1, this.reservations.length)] ?? randomUUID();
    if (kind === 'barrier.arrive') return { barrierId, arrivalKey: workKey, epoch: which === 0 ? 2 : '' };
    if (kind === 'note.put') {
      // As JSON, a value has at least one byte.
      const [ifVersion, value] = [which < 3 ? which : '', 'x'.repeat(1 + amount)];
      return { scopeId, key: workKey, ifVersion, messageId: '', token: '', value };
    }
    if (kind === 'budget.settle')
      return { budgetId, reservationId, workKey, amountMinor, overrun: which === 0 ? '1' : '', label: '', tail };
    if (kind === 'allowance.consume')
      return { allowanceId, scopeId, units: 1 + amount, holder: 'h', workKey: key < 3 ? '' : workKey, tail };
    const settleBy = which === 0 ? at + 1000 : '';
    return { budgetId, scopeId, holder: 'h', amountMinor, settleBy, workKey: key < 3 ? '' : `reserve ${key}`, tail };
  }

  #call(kind: Kind, call: Call): Promise<Reply> {
    const world = this.worlds[call.space] as World;
    return callIn(world, {
      script: kind.replace('.', '/'),
      callName: kind,
      idempotencyDigest: call.idempotencyKey < 3 ? digest(`${kind} ${call.idempotencyKey}`) : '',
      fingerprint: fingerprint(`${call.key < 4}`),
      args: this.#args(kind, call),
    });
  }

  async run(kind: Kind, calls: readonly Call[], together: boolean): Promise<void> {
    const results: PromiseSettledResult<Reply>[] = [];
    if (together) results.push(...(await Promise.allSettled(calls.map((call) => this.#call(kind, call)))));
    else for (const call of calls) results.push(...(await Promise.allSettled([this.#call(kind, call)])));
    for (const result of results) {
      if (result.status === 'rejected' && !(result.reason instanceof Refusal)) throw result.reason;
      // In an FCALL of two spaces, the rates are as of each call.
      this.answers.push(result.status === 'fulfilled' ? result.value.slice(1) : result.reason.message);
      if (kind === 'budget.reserve' && result.status === 'fulfilled') this.reservations.push(String(result.value[1]));
    }
  }

  /** Everything that is visible from outside, and the counters of the scopes; ids by their order of first appearance. */
  async state(): Promise<unknown> {
    const seen: unknown[] = [this.answers];
    for (const [space, world] of this.worlds.entries()) {
      const { budgetId, barrierId, allowanceId } = this.parts[space] as (typeof this.parts)[number];
      const paths = [`/budgets/${budgetId}?limit=200`, `/barriers/${barrierId}`, `/allowances/${allowanceId}`];
      for (const path of [...paths, '/census', '/usage', '/events?limit=200']) {
        const { body } = await world.get(path);
        seen.push(body.events ?? body);
      }
      for (const scopeId of this.scopes)
        seen.push(
          await world.service.store.hgetall(`${world.prefix}:scope:${scopeId}`),
          (await world.get(`/scopes/${scopeId}/notes`)).body,
        );
    }
    return withNumberedIds(seen);
  }
}

describe('calls that share an FCALL', function () {
  this.timeout(longMs);

  const call = fc.record<Call>({
    space: fc.integer({ min: 0, max: 1 }),
    idempotencyKey: fc.integer({ min: 0, max: 12 }),
    scope: fc.integer({ min: 0, max: 3 }),
    key: fc.integer({ min: 0, max: 5 }),
    amount: fc.integer({ min: 0, max: amounts.length - 1 }),
    which: fc.integer({ min: 0, max: 6 }),
  });
  const kinds: Kind[] = ['budget.reserve', 'budget.settle', 'barrier.arrive', 'allowance.consume', 'note.put'];
  const batch = fc.tuple(fc.constantFrom(...kinds), fc.array(call, { minLength: 2, maxLength: 24 }));

  it('have the same answers and records as one after the other, even if some are refused', async () => {
    const property = fc.asyncProperty(fc.array(batch, { minLength: 3, maxLength: 8 }), async (batches) => {
      const [together, apart] = await Promise.all([Rooms.create(), Rooms.create()]);
      for (const [kind, calls] of batches) {
        await together.run(kind, calls, true);
        await apart.run(kind, calls, false);
      }
      expect(await together.state()).to.deep.equal(await apart.state());
    });
    await fc.assert(property, { numRuns: many(10, 300) });
  });
});
