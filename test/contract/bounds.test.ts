import { expect } from 'chai';
import type Joi from 'joi';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { samples } from '../support/sample.ts';

/** The bounds of fields, wherever they are. */
const characters: Readonly<Record<string, number>> = {
  ...{ name: 200, holder: 256, holderSession: 256, recipientId: 256, reason: 512, url: 2048, error: 2048 },
  ...{ workKey: 512, taskKey: 512, arrivalKey: 512 },
};
const integers: Readonly<Record<string, readonly [number, number]>> = {
  ...{ leaseSeconds: [5, 600], waitSeconds: [0, 30], ttlSeconds: [5, 3600], seconds: [1, 3600], scale: [0, 9] },
  ...{ delaySeconds: [0, 2_592_000], max: [1, 100], 'message.nack delaySeconds': [0, 86_400] },
  ...{ attemptSeconds: [1, 86_400], timeoutSeconds: [1, 2_592_000] },
  ...{ everySeconds: [5, 31_536_000] },
  ...{ maxAttempts: [1, 100], retryDelaySeconds: [0, 86_400], maxRetryDelaySeconds: [1, 86_400] },
  ...{ backlogLimit: [1, 100_000], threshold: [1, 1000], target: [1, 100_000] },
  ...{ epoch: [1, 999_999_999], ifVersion: [0, 999_999_999_999_999] },

  ...{ unitsLimit: [1, 1e9], units: [1, 1e9], windowSeconds: [1, 31_536_000] },
  ...{ 'pool.create units': [1, 1e6], 'pool.update units': [1, 1e6], 'pool.acquire units': [1, 1e6] },
  ...{ 'pool.acquire ttlSeconds': [0, 86_400], 'hold.renew ttlSeconds': [5, 86_400] },
  ...{ requestsPerMinute: [1, 100_000], maxBacklog: [1, 1_000_000], maxPayloadBytes: [1, 65_536] },
  ...{ maxLeaseSeconds: [5, 600], maxPendingWaiters: [1, 1_000_000], maxArmedTimers: [1, 1_000_000] },
  'budget.create windowSeconds': [60, 31_536_000],
  'allowance.settle units': [0, 1_000_000_000],
  remainingUnits: [0, 1_000_000_000],
};
/** More than the plan grants is not a validation error. */
const granted = ['requestsPerMinute', 'maxPayloadBytes'];
const defaults: Readonly<Record<string, object>> = {
  'mailbox.create': { backlogLimit: 1000, maxAttempts: 5, retryDelaySeconds: 0, unique: false },
  'message.requeue': { delaySeconds: 0 },
  'mailbox.purge': { max: 100 },
  'mailbox.requeue': { max: 100 },
  'message.recv': { waitSeconds: 0 },
  'schedule.create': { timezone: 'UTC' },
  'allowance.wait': { ttlSeconds: 300 },
  'pool.create': { unique: false },
  'pool.acquire': { units: 1, ttlSeconds: 300 },
  'destination.create': { eventTypes: [] },
};

/** So many code points, most of them with two code units. */
const long = (name: string, length: number): string =>
  name === 'url' ? `https://a.test/${'😀'.repeat(length - 15)}` : '😀'.repeat(length);

interface Field {
  readonly where: string;
  readonly name: string;
  takes(value: unknown): boolean;
}

/** The fields of a body, including those of nested objects. */
function fieldsOf(where: string, schema: Joi.ObjectSchema, wrap = (value: object): object => value): Field[] {
  const [full = {}] = samples(schema);
  return Object.entries(full).flatMap(([name, value]) => {
    const put = (one: unknown) => wrap({ ...full, [name]: one });
    const isObject = typeof value === 'object' && !Array.isArray(value);
    if (isObject) return fieldsOf(`${where}.${name}`, schema.extract(name) as Joi.ObjectSchema, put);
    const root = allRoutes.find(({ call }) => call === where.split(' ')[0])?.body;
    return [{ where, name, takes: (one) => root?.validate(put(one)).error === undefined }];
  });
}

describe('the bounds of a field', () => {
  const fields = allRoutes.flatMap(({ call, body }) => (body ? fieldsOf(`${call} `, body) : []));

  it('texts have the documented bounds, in code points, in every body', () => {
    const met = new Set<string>();
    for (const { where, name, takes } of fields) {
      const max = characters[name];
      if (max === undefined) continue;
      met.add(name);
      expect([takes(long(name, max)), takes(long(name, max + 1))], where + name).to.deep.equal([true, false]);
      expect(takes(''), `${where}${name} empty`).to.equal(name === 'reason');
    }
    expect([...met]).to.have.members(Object.keys(characters));
  });

  it('whole numbers have the documented bounds, in every body and query', () => {
    const met = new Set<string>();
    for (const { call, query } of allRoutes) {
      for (const name of Object.keys(query?.describe().keys ?? {})) {
        const [least, max] = integers[name] ?? [];
        if (least === undefined || max === undefined) continue;
        const takes = (value: number): boolean => !query?.validate({ [name]: String(value) }).error;
        expect([least - 1, least, max, max + 1].map(takes), `${call} ${name}`).to.deep.equal([
          false,
          true,
          true,
          false,
        ]);
      }
    }
    for (const { where, name, takes } of fields) {
      const key = where + name in integers ? where + name : name;
      const [least, max] = integers[key] ?? [];
      if (least === undefined || max === undefined) continue;
      met.add(key);
      const taken = [least - 1, least, max, max + 1].map(takes);
      expect(taken, where + name).to.deep.equal([false, true, true, granted.includes(name)]);
    }
    expect([...met]).to.have.members(Object.keys(integers));
  });

  it("are in the error message with the field's name, for any invalid value", () => {
    const wrong = [5, 1.5, 'x', '', '{', '\0', 'x'.repeat(3000), true, [], ['x'], [5], {}, '2026-13-01T00:00:00Z'];
    for (const { call, body, query } of allRoutes)
      for (const schema of [body, query]) {
        const [sample] = samples(schema, ['cursor']);
        for (const name of Object.keys(schema?.describe().keys ?? {})) {
          const errors = wrong.map((value) => schema?.validate({ ...sample, [name]: value }).error);
          for (const { message } of errors.filter((error) => error !== undefined))
            expect(message, call).to.match(
              new RegExp(
                `^${name}(\\[0\\]|\\.payload|\\.key)? (must (be|have|begin) .|is missing: it (must|may) be .)`,
              ),
            );
        }
      }
  });

  it('apply to its default, too', () => {
    for (const [call, expected] of Object.entries(defaults)) {
      const schema = allRoutes.find((route) => route.call === call)?.body;
      expect(schema?.validate(samples(schema)[1]).value, call).to.deep.include(expected);
    }
  });

  it("a list's limit is 1 to 200, by default 50; the journal's is 1 to 500, by default 100", () => {
    const lists: string[] = [];
    for (const { call, query } of allRoutes) {
      if (!query?.describe().keys?.limit) continue;
      lists.push(call);
      const ofEachKind = ['run.view', 'waits.get', 'receivers.get'].includes(call);
      const [max, preset] = call.startsWith('event.') ? [500, 100] : ofEachKind ? [500, 200] : [200, 50];
      expect(query.validate({}).value.limit, call).to.equal(preset);
      const taken = [0, 1, max, max + 1].map((limit) => !query.validate({ limit: `${limit}` }).error);
      expect(taken, call).to.deep.equal([false, true, true, false]);
    }
    expect(lists).to.have.length(22);
  });
});
