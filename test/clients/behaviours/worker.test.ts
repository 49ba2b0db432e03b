import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { until } from '../../support/processes.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';
import { type Fault, type FaultyProxy, faultyProxy } from './faulty-proxy.ts';
import type { Step } from './script.ts';
import { hosts, type Options, type Started, type WorkerHost } from './workers.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An outcome that differs and has not changed for so long is shown. */
const stillMs = 30_000;

/** A message: its payload, or the steps of each of its runs, and what becomes of it. */
interface Message {
  readonly payload?: unknown;
  readonly work?: readonly (readonly Step[])[];
  readonly fields?: Fields;
  /** Of the message at the end. A string that begins with ^ is a regular expression. */
  readonly ends: Fields;
  /** What its handler has said in all runs. */
  readonly saw?: readonly unknown[];
}

/** What somebody else does meanwhile: to the message of this index, to the service, to the worker. */
interface Act {
  /** Waits until handlers have said so much together. */
  readonly said?: number;
  readonly cancel?: number;
  readonly cancelRun?: number;
  readonly answer?: unknown;
  readonly to?: number;
  /** Waits until the proxy has received a call of this name. */
  readonly called?: string;
  /** How often; default once. */
  readonly times?: number;
  readonly isAway?: boolean;
  /** Closes the worker, within so many seconds; null: as its options say. */
  readonly close?: number | null;
  /** Begins to close it, and does not wait for that. */
  readonly closing?: number | null;
}

interface Case {
  readonly name: string;
  /** Once for each of these options; default: with batches, and without. */
  readonly batch?: readonly boolean[];
  readonly worker?: Options & { readonly publishes?: true; readonly inRun?: true };
  readonly access?: { readonly key?: string };
  readonly mailbox?: Fields | null;
  readonly messages: readonly Message[];
  readonly faults?: readonly Fault[];
  readonly then?: readonly Act[];
  readonly counts?: Fields;
  readonly stopped?: string;
  readonly balances?: Fields;
  /** The values of the run's notes, by key. */
  readonly notes?: Fields;
  /** The payloads that were published. */
  readonly published?: readonly unknown[];
  /** The messages that handlers have sent, each with its payload, its workKey and the index of the message of its run. */
  readonly sent?: readonly unknown[];
  /** How often calls were made. */
  readonly calls?: Fields;
}

/** The outcome of a case, with the members that it declares. */
type Outcome = Fields;

const file = new URL('worker.json', import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8')).cases;
const variants = cases.flatMap((one) => (one.batch ?? [true, false]).map((batch) => ({ one, batch })));

describe('A worker', function () {
  this.timeout(120_000);
  let service: MusterService;
  before(async () => {
    service = await delivering();
  });
  after(() => service.stop());

  for (const [client, start] of Object.entries(hosts))
    describe(client, () => {
      let world: World;
      let host: WorkerHost;
      let outcomes: Map<string, Promise<Outcome>>;
      before(async () => {
        world = await World.create({ on: service, limits: { maxBacklog: 10_000 } });
        host = await start(world);
        // They wait more than they work: many at once.
        const some = atOnce(8);
        outcomes = new Map(
          variants.map(({ one, batch }) => [nameOf(one, batch), some(() => outcomeOf(world, host, one, batch))]),
        );
        for (const outcome of outcomes.values()) outcome.catch(() => undefined);
      });
      after(async () => {
        await Promise.allSettled(outcomes.values());
        await host.stop();
      });

      for (const { one, batch } of variants)
        it(nameOf(one, batch), async () => {
          expect(await outcomes.get(nameOf(one, batch))).to.deep.equal(wantedOf(one));
        });
    });
});

/** Returns a function that does some work, so many at once. */
function atOnce(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const lanes: Promise<unknown>[] = Array.from({ length: count }, () => Promise.resolve());
  let next = 0;
  return (work) => {
    const lane = next++ % count;
    const done = (lanes[lane] ?? Promise.resolve()).then(work);
    lanes[lane] = done.catch(() => undefined);
    return done;
  };
}

function nameOf({ name }: Case, batch: boolean): string {
  return `${name}${batch ? '' : '; each call alone'}`;
}

function wantedOf({ messages, counts, stopped, balances, notes, published, sent, calls }: Case): Outcome {
  const ends = messages.map((one) => one.ends);
  const saw = messages.map((one) => one.saw ?? []);
  return JSON.parse(JSON.stringify({ ends, saw, counts, stopped, balances, notes, published, sent, calls }));
}

/** A case while it runs. */
interface Setting {
  readonly world: World;
  readonly worker: Started;
  readonly proxy: FaultyProxy;
  readonly ids: readonly string[];
  readonly scopes: readonly string[];
  readonly saw: Map<string, unknown[]>;
  /** Closes that have begun. */
  readonly closing: Promise<void>[];
}

/** Makes something for a case, however busy the store is. */
async function made(world: World, path: string, body: object) {
  for (;;) {
    const { status, body: answer } = await world.post(path, body);
    if (status < 300) return answer;
    if (status !== 503) throw new Error(`POST ${path}: ${status} ${answer.error?.code}`);
    await sleep(250);
  }
}

async function outcomeOf(world: World, host: WorkerHost, one: Case, batch: boolean): Promise<Outcome> {
  const name = `case ${randomUUID()}`;
  const box = one.mailbox === null ? { id: randomUUID() } : await made(world, '/mailboxes', { name, ...one.mailbox });
  const target = one.worker?.publishes && (await made(world, '/mailboxes', { name: `${name} results` }));
  const budget = await made(world, '/budgets', { name, currency: 'EUR', scale: 2, limitMinor: '1000' });
  const allowance = { name, unitsLimit: 9, windowSeconds: 31_536_000 };
  await made(world, '/allowances', allowance);
  await made(world, '/pools', { name, units: 1 });
  const scopes = one.messages.map(() => randomUUID());
  const saw = new Map<string, unknown[]>();
  const ids: string[] = [];
  for (const [n, { payload, work, fields }] of one.messages.entries()) {
    const sent = { scopeId: scopes[n], payload: work ? { work } : payload, ...fields };
    ids.push((await made(world, `/mailboxes/${box.id}/messages`, sent)).id);
  }
  const proxy = await faultyProxy(world.url, one.faults);
  const { publishes: _, inRun, ...options } = one.worker ?? {};
  const given = {
    ...{ batch, ...options },
    ...(target && { resultsTo: target.id as string }),
    ...(inRun && { scopeId: scopes[0] ?? '' }),
  };
  const asked = {
    mailboxId: box.id as string,
    url: proxy.url,
    options: given,
    budget: name,
    allowance: name,
    pool: name,
  };
  const worker = await host.start({ ...asked, ...(one.access && { access: one.access }) }, (id, value) => {
    saw.set(id, [...(saw.get(id) ?? []), value]);
  });
  const setting: Setting = { world, worker, proxy, ids, scopes, saw, closing: [] };
  try {
    for (const act of one.then ?? []) await make(act, setting);
    await Promise.all(setting.closing);
    return await settled(one, setting, { budgetId: budget.id, targetId: target?.id, name });
  } finally {
    await worker.close(0);
    proxy.close();
  }
}

async function make(act: Act, { world, worker, proxy, ids, scopes, saw, closing }: Setting): Promise<void> {
  if (act.said !== undefined) await until(async () => [...saw.values()].flat().length >= (act.said ?? 0));
  if (act.called !== undefined)
    await until(async () => proxy.calls.filter((name) => name === act.called).length >= (act.times ?? 1));
  if (act.cancel !== undefined) await world.mustPost(`/messages/${ids[act.cancel]}/cancel`);
  if (act.cancelRun !== undefined) await world.mustPost(`/scopes/${scopes[act.cancelRun]}/cancel`);
  if (act.isAway !== undefined) proxy.isAway = act.isAway;
  if (act.to !== undefined) {
    const open = async () => (await world.get(`/questions?messageId=${ids[act.to ?? 0]}&state=OPEN`)).body.questions;
    await until(async () => (await open()).length > 0);
    const [question] = await open();
    await world.mustPost(`/questions/${question.id}/answer`, { answer: act.answer, answeredBy: 'ann' });
  }
  if (act.closing !== undefined) closing.push(worker.close(act.closing ?? undefined));
  if (act.close !== undefined) await worker.close(act.close ?? undefined);
}

/** The outcome, once it is as declared; else as it is when nothing changes any more for long. */
async function settled(one: Case, setting: Setting, ids: Parameters<typeof look>[2]): Promise<Outcome> {
  const wanted = JSON.stringify(wantedOf(one));
  let [outcome, since] = ['', Date.now()];
  await until(async () => {
    const now = JSON.stringify(await look(one, setting, ids));
    if (now !== outcome) [outcome, since] = [now, Date.now()];
    return outcome === wanted || Date.now() - since > stillMs;
  });
  return JSON.parse(outcome) as Outcome;
}

async function look(
  one: Case,
  { world, worker, proxy, ids, scopes, saw }: Setting,
  { budgetId, targetId, name }: { budgetId: string; targetId: string; name: string },
): Promise<Outcome> {
  const ends: Fields[] = [];
  for (const [n, { ends: wanted }] of one.messages.entries()) {
    const found = one.mailbox === null ? {} : (await world.get(`/messages/${ids[n]}`)).body;
    ends.push(chosen(wanted, found));
  }
  const { counts, stopped } = await worker.state();
  const outcome: Record<string, unknown> = { ends, saw: ids.map((id) => saw.get(id) ?? []) };
  if (one.counts) outcome['counts'] = chosen(one.counts, counts);
  if (one.stopped) outcome['stopped'] = stopped;
  if (one.balances) outcome['balances'] = chosen(one.balances, (await world.get(`/budgets/${budgetId}`)).body.balances);
  if (one.notes) {
    const { notes } = (await world.get(`/scopes/${scopes[0]}/notes?values=true`)).body;
    outcome['notes'] = Object.fromEntries(notes.map((note: Fields) => [note['key'], note['value']]));
  }
  if (one.published) {
    const { messages } = (await world.get(`/mailboxes/${targetId}/messages`)).body;
    outcome['published'] = messages.map(({ payload }: Fields) => payload);
  }
  if (one.sent) {
    const { mailboxes } = (await world.get(`/mailboxes?name=${encodeURIComponent(`${name} sent`)}`)).body;
    const { messages } = (await world.get(`/mailboxes/${mailboxes[0]?.id ?? randomUUID()}/messages`)).body;
    outcome['sent'] = (messages ?? []).map(({ payload, workKey, scopeId }: Record<string, string>) => [
      payload,
      workKey,
      scopes.indexOf(scopeId ?? ''),
    ]);
  }
  if (one.calls) {
    const count = (name: string) => proxy.calls.filter((call) => call === name).length;
    outcome['calls'] = Object.fromEntries(Object.keys(one.calls).map((name) => [name, count(name)]));
  }
  return JSON.parse(JSON.stringify(outcome));
}

/** The members that are declared, with what matches a regular expression replaced by it. */
function chosen(wanted: Fields, found: Fields): Fields {
  const members = Object.entries(wanted).map(([name, value]) => {
    const is = found[name];
    const isMatch = typeof value === 'string' && value.startsWith('^') && new RegExp(value).test(String(is));
    return [name, isMatch ? value : is];
  });
  return Object.fromEntries(members);
}
