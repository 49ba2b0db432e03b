import { calls } from '../generated/calls.ts';
import type { CallName } from '../types.ts';
import type { WorkerMessage } from '../worker/task.ts';
import type { TestClock } from './clock.ts';

/** Fields of path, query and body of a call. */
type Fields = Readonly<Record<string, unknown>>;
/** By primitive and call. */
type Answers = Readonly<Record<string, Readonly<Record<string, (fields: Fields) => unknown>>>>;

/** The result of a prerequisite of the test's message. */
export interface Earlier {
  readonly state: string;
  readonly result: unknown;
}

/** The outcome of an attempt, as the worker reported it. */
export interface Told {
  readonly state: 'ACKED' | 'READY' | 'DELAYED' | 'REJECTED' | 'FAILED' | 'BLOCKED';
  readonly error: string | null;
  readonly delaySeconds: number;
}

interface Reservation {
  readonly [field: string]: unknown;
  readonly id: string;
  readonly budgetId: string;
  readonly workKey: string | null;
  readonly amountMinor: string;
  readonly settleBy: string | null;
  readonly onOverdue: string;
  overdue: boolean;
  state: 'ACTIVE' | 'SETTLED' | 'VOIDED';
  settledMinor: string;
}

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const patterns = Object.entries(calls).map(([name, [method, path]]) => ({
  name: name as CallName,
  method,
  path: new RegExp(`^/v1${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

const textOf = (value: unknown): string => String(value ?? '');

/** Stands in for the service: answers the calls that a worker and a handler's context make for one message. */
export class Memory {
  message: WorkerMessage;
  told: Told | undefined;
  readonly notes = new Map<string, { readonly [field: string]: unknown; readonly version: number }>();
  readonly reservations: Reservation[] = [];
  readonly #spent = new Map<string, bigint>();
  /** By name of the allowance. */
  readonly units = new Map<string, number>();
  /** Calls that this class cannot answer. */
  readonly unanswered: string[] = [];
  isLost = false;
  readonly #clock: TestClock;
  readonly #budgets: ReadonlyMap<string, bigint> | undefined;
  readonly #earlier: ReadonlyMap<string, Earlier>;
  readonly #waiters = new Map<string, { readonly name: string; units: number }>();
  #puts = 0;
  /** Wake the held views of notes. */
  readonly #views = new Set<() => void>();
  #isReceived = false;
  /** Resolves when the worker ends its held receive. */
  #hasLeft = Promise.resolve();
  #leave: () => void = () => undefined;
  #journal: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(
    message: WorkerMessage,
    clock: TestClock,
    budgets: ReadonlyMap<string, bigint> | undefined,
    earlier: ReadonlyMap<string, Earlier>,
  ) {
    this.message = message;
    this.#clock = clock;
    this.#budgets = budgets;
    this.#earlier = earlier;
  }

  /** Makes the message available in its current state. */
  offer(): void {
    this.told = undefined;
    this.isLost = false;
    this.#isReceived = false;
    this.#hasLeft = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  /** Ends the claim and announces it in the journal. */
  lose(): void {
    this.isLost = true;
    const event = { type: 'message.cancelled', payload: { messageId: this.message.id } };
    this.#journal?.enqueue(new TextEncoder().encode(`id: 1\ndata: ${JSON.stringify(event)}\n\n`));
  }

  /** Replaces fetch. */
  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(url));
    const method = init.method ?? 'GET';
    init.signal?.throwIfAborted();
    for (const pattern of patterns) {
      const found = pattern.method === method ? pattern.path.exec(pathname) : null;
      if (!found) continue;
      if (pattern.name === 'event.watch') return this.#watch(init.signal);
      const inPath = Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]);
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : {};
      const fields = { ...Object.fromEntries([...inPath, ...searchParams]), ...body };
      return this.#respond(pattern.name, fields, init.signal);
    }
    return Response.json({ error: { code: 'ROUTE_NOT_FOUND', message: `no ${method} ${pathname}` } }, { status: 404 });
  };

  async #respond(name: CallName, fields: Fields, signal: AbortSignal | null | undefined): Promise<Response> {
    try {
      if (name === 'message.recv' && this.#isReceived) {
        await Promise.race([this.#hasLeft, aborted(signal)]);
        return new Response(null, { status: 204 });
      }
      if (name === 'mailbox.leave') {
        this.#leave();
        return new Response(null, { status: 204 });
      }
      if (name === 'note.view') await this.#differs(fields, signal);
      const body = name === 'batch' ? this.#batch(fields) : this.#answer(name, fields);
      return body === undefined ? new Response(null, { status: 204 }) : Response.json(body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return Response.json({ error: { code: error.code, message: error.message } }, { status: error.status });
    }
  }

  #answer(name: string, fields: Fields): unknown {
    const [room = '', call = ''] = name.split('.');
    const answer = this.#answers[room]?.[call];
    if (answer) return answer(fields);
    this.unanswered.push(name);
    // Not a 5xx, which the worker would repeat.
    throw new Refused(400, 'INTERNAL', `a test task does not answer ${name}: use testServer`);
  }

  /** The batch of `task.finish`. A refused call ends it. */
  #batch({ calls: list }: Fields): unknown {
    const results = (list as readonly Fields[]).map(({ call, ...fields }) => ({
      body: this.#answer(textOf(call), fields) ?? null,
    }));
    return { results };
  }

  #watch(signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#journal = controller;
        controller.enqueue(new TextEncoder().encode('id: 0\n\n'));
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  /** Puts a note. Returns it without its value. */
  put(key: string, value: unknown): unknown {
    const { scopeId } = this.message;
    const now = this.#clock.in(0);
    const createdAt = this.notes.get(key)?.['createdAt'] ?? now;
    const note = { scopeId, key, version: ++this.#puts, holder: null, createdAt, updatedAt: now };
    this.notes.set(key, { ...note, value });
    this.#changed();
    return note;
  }

  #changed(): void {
    for (const wake of this.#views) wake();
    this.#views.clear();
  }

  /** Holds a view, however long, until the note's version differs from `sinceVersion`. */
  async #differs({ key, sinceVersion }: Fields, signal: AbortSignal | null | undefined): Promise<void> {
    const version = (): number => this.notes.get(textOf(key))?.version ?? 0;
    while (sinceVersion !== undefined && version() === Number(sinceVersion)) {
      const changed = new Promise<void>((resolve) => void this.#views.add(resolve));
      await Promise.race([changed, aborted(signal)]);
    }
  }

  #held(): void {
    if (this.isLost) throw new Refused(409, 'CLAIM_LOST', 'the claim is over');
  }

  #end(state: Told['state'], error: string | null = null, delaySeconds = 0): unknown {
    this.#held();
    this.told = { state, error, delaySeconds };
    return { ...this.message, state, readyAt: state === 'DELAYED' ? this.#clock.in(delaySeconds) : null };
  }

  readonly #answers: Answers = {
    message: {
      recv: () => {
        this.#isReceived = true;
        return { messages: [this.message] };
      },
      renew: ({ progress }) => {
        this.#held();
        if (progress !== undefined) this.message = { ...this.message, progress };
        return { leaseExpiresAt: this.#clock.in(this.message.leaseSeconds) };
      },
      complete: () => this.#end('ACKED'),
      nack: ({ retry, error, delaySeconds, countsAttempt }) => {
        const isLast = countsAttempt !== false && this.message.attempts >= this.message.maxAttempts;
        const state =
          retry === false ? 'REJECTED' : isLast ? 'FAILED' : Number(delaySeconds ?? 0) > 0 ? 'DELAYED' : 'READY';
        const answer = this.#end(state, textOf(error), Number(delaySeconds ?? 0));
        const attempts = this.message.attempts - (countsAttempt === false ? 1 : 0);
        this.message = { ...this.message, attempts, lastError: textOf(error) };
        return answer;
      },
      ask: ({ question, options = null, expiresInSeconds, progress }) => {
        this.#end('BLOCKED');
        const { id: messageId, mailboxId, scopeId, holder } = this.message;
        const asked = {
          ...{
            id: crypto.randomUUID(),
            scopeId,
            messageId,
            mailboxId,
            holder,
            question,
            options,
            state: 'OPEN' as const,
          },
          ...{ answer: null, answeredBy: null, answeredVia: null, answeredAt: null },
          createdAt: this.#clock.in(0),
          expiresAt: this.#clock.in(Number(expiresInSeconds ?? 604_800)),
        };
        const attempts = this.message.attempts - 1;
        const kept = progress === undefined ? {} : { progress };
        this.message = { ...this.message, ...kept, attempts, question: asked as WorkerMessage['question'] };
        return { id: messageId, state: 'BLOCKED', question: { ...asked, answerUrl: 'http://muster.test/answer' } };
      },
      view: ({ messageId }) => {
        const earlier = this.#earlier.get(textOf(messageId));
        if (!earlier) return this.message;
        return { ...this.message, id: messageId, state: earlier.state, result: earlier.result };
      },
    },
    note: {
      view: ({ key }) => this.#note(key),
      put: ({ key, value, ifVersion, messageId }) => {
        if (messageId !== undefined) this.#held();
        const found = this.notes.get(textOf(key));
        if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0))
          throw new Refused(409, 'VERSION_CONFLICT', `the note has version ${found?.version ?? 0}`);
        return this.put(textOf(key), value);
      },
      delete: ({ key }) => {
        this.#note(key);
        this.notes.delete(textOf(key));
        this.#changed();
      },
      list: ({ prefix }) => {
        const keys = [...this.notes.keys()].filter((key) => key.startsWith(textOf(prefix))).sort();
        return { notes: keys.map((key) => this.notes.get(key)), nextCursor: null };
      },
    },
    budget: {
      list: ({ name }) => ({ budgets: this.#isBudget(name) ? [{ id: name, name }] : [], nextCursor: null }),
      reserve: ({ budgetId, scopeId, holder, amountMinor, workKey = null, settleBy = null, onOverdue = 'KEEP' }) => {
        this.#passOverdue();
        const known = this.reservations.find((one) => one.budgetId === budgetId && one.workKey === workKey);
        if (known?.amountMinor === amountMinor) return { ...known, replay: true };
        if (known) throw new Refused(409, 'WORK_KEY_CONFLICT', 'another amount was reserved with this workKey');
        if (settleBy !== null && this.#hasPassed(settleBy))
          throw new Refused(400, 'VALIDATION_FAILED', 'settleBy must be in the future');
        const left = this.#left(textOf(budgetId));
        if (left !== undefined && left < BigInt(textOf(amountMinor)))
          throw new Refused(409, 'INSUFFICIENT_BUDGET', `the budget ${budgetId} has ${left} left`);
        const made: Reservation = {
          ...{
            id: crypto.randomUUID(),
            budgetId: textOf(budgetId),
            workKey: workKey as string | null,
            scopeId,
            holder,
          },
          ...{ amountMinor: textOf(amountMinor), settledMinor: '0', voidedMinor: '0', remainingMinor: amountMinor },
          ...{ settleBy: settleBy as string | null, onOverdue: textOf(onOverdue), overdue: false },
          ...{ state: 'ACTIVE', createdAt: this.#clock.in(0), closedAt: null },
        };
        this.reservations.push(made);
        return { ...made, replay: false };
      },
      settle: ({ reservationId, amountMinor }) => {
        const reservation = this.#reservation(reservationId);
        this.#settle(reservation, BigInt(textOf(amountMinor)));
        return { entry: { amountMinor, overdrawnMinor: '0' }, reservation };
      },
      void: ({ reservationId }) => {
        const reservation = this.#reservation(reservationId);
        reservation.state = reservation.settledMinor === '0' ? 'VOIDED' : 'SETTLED';
        return { reservation };
      },
      view: ({ budgetId, state }) => {
        this.#passOverdue();
        const states = textOf(state ?? 'ACTIVE,SETTLED,VOIDED').split(',');
        const found = this.reservations.filter((one) => one.budgetId === budgetId && states.includes(one.state));
        return { reservations: found.reverse(), nextCursor: null };
      },
    },
    allowance: {
      list: ({ name }) => ({ allowances: [{ id: name, name }], nextCursor: null }),
      wait: ({ allowanceId, units }) => {
        const waiterId = crypto.randomUUID();
        const name = textOf(allowanceId);
        this.#waiters.set(waiterId, { name, units: Number(units) });
        this.units.set(name, (this.units.get(name) ?? 0) + Number(units));
        return { id: waiterId, waiterId, allowanceId, units, state: 'GRANTED' };
      },
      settle: ({ allowanceId, consumptionId, units }) => {
        const waiter = this.#waiters.get(textOf(consumptionId));
        if (!waiter) throw new Refused(404, 'CONSUMPTION_NOT_FOUND', 'there is no such consumption');
        this.units.set(waiter.name, (this.units.get(waiter.name) ?? 0) + Number(units) - waiter.units);
        waiter.units = Number(units);
        return { id: consumptionId, allowanceId, units, settledUnits: units, availableUnits: 0, replay: false };
      },
      observe: ({ allowanceId }) => ({ id: allowanceId }),
      cooldown: ({ allowanceId }) => ({ id: allowanceId }),
    },
  };

  #note(key: unknown) {
    const found = this.notes.get(textOf(key));
    if (!found) throw new Refused(404, 'NOTE_NOT_FOUND', 'there is no such note');
    return found;
  }

  /** The money spent, in minor units, by budget. */
  get spent(): ReadonlyMap<string, bigint> {
    this.#passOverdue();
    return this.#spent;
  }

  #settle(reservation: Reservation, amount: bigint): void {
    const { budgetId, amountMinor } = reservation;
    const settled = BigInt(reservation.settledMinor) + amount;
    reservation.settledMinor = String(settled);
    if (settled >= BigInt(amountMinor)) reservation.state = 'SETTLED';
    this.#spent.set(budgetId, (this.#spent.get(budgetId) ?? 0n) + amount);
  }

  /** Settles the rest of reservations whose settleBy has passed, if they ask for that. */
  #passOverdue(): void {
    for (const one of this.reservations) {
      if (one.overdue || one.state !== 'ACTIVE' || one.settleBy === null || !this.#hasPassed(one.settleBy)) continue;
      one.overdue = true;
      if (one.onOverdue === 'SETTLE') this.#settle(one, BigInt(one.amountMinor) - BigInt(one.settledMinor));
    }
  }

  #hasPassed(moment: unknown): boolean {
    return Date.parse(textOf(moment)) <= this.#clock.now.getTime();
  }

  #reservation(id: unknown): Reservation {
    this.#passOverdue();
    const found = this.reservations.find((one) => one.id === id);
    if (found?.state !== 'ACTIVE') throw new Refused(409, 'RESERVATION_CLOSED', 'the reservation is closed');
    return found;
  }

  #isBudget(name: unknown): boolean {
    return this.#budgets?.has(textOf(name)) ?? true;
  }

  /** Undefined if there is no limit. */
  #left(name: string): bigint | undefined {
    const limit = this.#budgets?.get(name);
    const reserved = this.reservations
      .filter(({ budgetId, state }) => budgetId === name && state === 'ACTIVE')
      .reduce((sum, { amountMinor, settledMinor }) => sum + BigInt(amountMinor) - BigInt(settledMinor), 0n);
    return limit === undefined ? undefined : limit - reserved - (this.#spent.get(name) ?? 0n);
  }
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason as Error);
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
