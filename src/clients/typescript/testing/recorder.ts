import { MusterError, textOf as thrownText } from '../error.ts';
import { calls } from '../generated/calls.ts';
import type { CallName } from '../types.ts';
import type { WorkerMessage } from '../worker/task.ts';
import type { TestClock } from './clock.ts';

/** The fields of a call's path, query and body. */
export type TestFields = Readonly<Record<string, unknown>>;

/** A call that a handler has made. */
export interface TestCall {
  readonly call: CallName;
  readonly fields: TestFields;
}

/** The bodies of answers, by call. A function that throws a MusterError refuses the call. */
export type TestAnswers = { readonly [Name in CallName]?: (fields: TestFields) => unknown };

/** The outcome of an attempt, as the worker reported it. */
export interface Told {
  readonly state: 'ACKED' | 'READY' | 'DELAYED' | 'REJECTED' | 'FAILED' | 'BLOCKED';
  readonly error: string | null;
  readonly delaySeconds: number;
  /** The calls made with its completion. */
  readonly plan: readonly TestCall[];
  /** What a suspended message waits for. */
  readonly suspension: TestFields | null;
}

const patterns = Object.entries(calls).map(([name, [method, path]]) => ({
  name: name as CallName,
  method,
  path: new RegExp(`^/v1${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));
/** Calls of the worker, not of its handler. */
const ofWorker = /^(event\.watch|mailbox\.leave|message\.(recv|renew|complete|nack|ask|suspend))$/;

const textOf = (value: unknown): string => String(value ?? '');

/** Takes the place of the service for one message: records the calls, and gives them answers without any rules. */
export class Recorder {
  message: WorkerMessage;
  told: Told | undefined;
  readonly calls: TestCall[] = [];
  readonly notes = new Map<string, { readonly value: unknown; readonly version: number }>();
  /** The money that was settled, by budget. */
  readonly spent = new Map<string, bigint>();
  /** The units that were taken, by allowance. */
  readonly units = new Map<string, number>();
  /** Calls that got no answer, each with the reason. */
  readonly failures: unknown[] = [];
  isLost = false;
  readonly #clock: TestClock;
  readonly #given: TestAnswers;
  /** Results of prerequisites and joined messages, by message. */
  readonly #results: Map<string, unknown>;
  /** The states of joined messages that are not ACKED. */
  readonly #states = new Map<string, string>();
  /** The workKeys of messages that the handler has sent. */
  readonly #workKeys = new Map<string, unknown>();
  /** The units of each place in line. */
  readonly #taken = new Map<string, number>();
  #puts = 0;
  #fence = 0;
  #isReceived = false;
  /** Resolves when the worker ends its held receive. */
  #hasLeft = Promise.resolve();
  #leave: () => void = () => undefined;
  #journal: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(message: WorkerMessage, clock: TestClock, given: TestAnswers, results: Map<string, unknown>) {
    this.message = message;
    this.#clock = clock;
    this.#given = given;
    this.#results = results;
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

  /** Ends a message that the handler has sent. */
  finish(messageId: string, state: string, result: unknown): void {
    this.#states.set(messageId, state);
    this.#results.set(messageId, result);
  }

  put(key: string, value: unknown): object {
    const note = { key, version: ++this.#puts, updatedAt: this.#clock.in(0) };
    this.notes.set(key, { ...note, value });
    return note;
  }

  /** Replaces fetch. */
  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const response = await this.#fetch(url, init);
    response.headers.set('X-Request-Id', new Headers(init.headers).get('X-Request-Id') ?? '');
    return response;
  };

  async #fetch(url: string | URL | Request, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(String(url));
    init.signal?.throwIfAborted();
    for (const { name, method, path } of patterns) {
      const inPath = method === (init.method ?? 'GET') && path.exec(pathname);
      if (!inPath) continue;
      if (name === 'event.watch') return this.#watch(init.signal);
      if (name === 'message.recv' && this.#isReceived) await Promise.race([this.#hasLeft, aborted(init.signal)]);
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : {};
      const { spaceId: _, ...found } = inPath.groups ?? {};
      const params = Object.entries(found).map(([param, value]) => [param, decodeURIComponent(value)]);
      return this.#respond(name, { ...Object.fromEntries(params), ...Object.fromEntries(searchParams), ...body });
    }
    throw new TypeError(`no ${init.method} ${pathname}`);
  }

  #respond(name: string, fields: TestFields): Response {
    // The worker ends its claim alone, so batches are the handler's, and one with the completion is that of `finish`.
    const isHandlers = !this.told;
    try {
      const body = name === 'batch' ? this.#batch(fields, isHandlers) : this.#answer(name, fields, isHandlers);
      return body === undefined ? new Response(null, { status: 204 }) : Response.json(body);
    } catch (error) {
      return refused(this.#refusal(error));
    }
  }

  #batch({ calls, atomic }: TestFields, isHandlers: boolean): object {
    const list = (calls as readonly TestFields[]).map(({ call, ...fields }) => ({ call: call as CallName, fields }));
    const results: { status: number; body: unknown; replayed?: boolean }[] = [];
    for (const { call, fields } of list) {
      const made = () => this.#answer(call, referring(fields, results) as TestFields, isHandlers) ?? null;
      results.push(this.#batched(made, atomic === true));
    }
    const [first, ...plan] = list;
    if (atomic === true && this.told && first?.call === 'message.complete') this.told = { ...this.told, plan };
    return { results };
  }

  #batched(made: () => unknown, isAtomic: boolean): { status: number; body: unknown; replayed?: boolean } {
    try {
      return { status: 200, body: made(), replayed: false };
    } catch (error) {
      if (isAtomic) throw error;
      const { code, message, status } = this.#refusal(error);
      return { status: status || 409, body: { error: { code, message } } };
    }
  }

  /** A refusal. Any other error is the test's. */
  #refusal(error: unknown): MusterError {
    if (error instanceof MusterError) return error;
    this.failures.push(error);
    // Not a 5xx, which the worker would repeat.
    return new MusterError('INTERNAL', thrownText(error), { status: 400 });
  }

  #answer(name: string, fields: TestFields, isHandlers: boolean): unknown {
    if (isHandlers && !ofWorker.test(name)) this.calls.push({ call: name as CallName, fields });
    const answer = this.#given[name as CallName] ?? this.#answers[name as CallName];
    // The answer to a held view would be a rule of the service.
    if (answer && (answer === this.#given[name as CallName] || fields['sinceVersion'] === undefined)) {
      const body = answer(fields);
      if (name === 'message.send') this.#workKeys.set(textOf((body as TestFields)['id']), fields['workKey'] ?? null);
      return body;
    }
    throw new Error(`a test task does not answer ${name}: put it into answers, or use testServer`);
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

  #held(): void {
    if (this.isLost) throw new MusterError('CLAIM_LOST', 'the claim is over');
  }

  #end(told: Partial<Told> & Pick<Told, 'state'>, fields: Partial<WorkerMessage> = {}): WorkerMessage {
    this.#held();
    this.told = { error: null, delaySeconds: 0, plan: [], suspension: null, ...told };
    this.message = { ...this.message, ...fields };
    const readyAt = told.state === 'DELAYED' ? this.#clock.in(this.told.delaySeconds) : null;
    return { ...this.message, state: told.state, readyAt } as WorkerMessage;
  }

  readonly #answers: TestAnswers = {
    'mailbox.leave': () => this.#leave(),
    'message.recv': () => {
      if (this.#isReceived) return undefined;
      this.#isReceived = true;
      return { messages: [this.message] };
    },
    'message.renew': ({ progress = this.message.progress }) => {
      this.#held();
      this.message = { ...this.message, progress };
      return { leaseExpiresAt: this.#clock.in(this.message.leaseSeconds) };
    },
    'message.complete': () => this.#end({ state: 'ACKED' }),
    'message.nack': ({ retry, error, delaySeconds, countsAttempt }) => {
      const { attempts, maxAttempts } = this.message;
      const isLast = countsAttempt !== false && attempts >= maxAttempts;
      const delay = Number(delaySeconds ?? 0);
      const state = retry === false ? 'REJECTED' : isLast ? 'FAILED' : delay > 0 ? 'DELAYED' : 'READY';
      const counted = countsAttempt === false ? attempts - 1 : attempts;
      const lastError = textOf(error);
      return this.#end({ state, error: lastError, delaySeconds: delay }, { attempts: counted, lastError });
    },
    'message.ask': ({ question, options = null, expiresInSeconds, progress = this.message.progress }) => {
      const expiresAt = this.#clock.in(Number(expiresInSeconds ?? 604_800));
      const asked = { question, options, state: 'OPEN', answer: null, answeredBy: null, expiresAt };
      const { id, attempts } = this.message;
      const fields = { progress, attempts: attempts - 1, question: asked as unknown as WorkerMessage['question'] };
      this.#end({ state: 'BLOCKED' }, fields);
      return { id, state: 'BLOCKED', question: { ...asked, answerUrl: 'http://muster.test/answer' } };
    },
    'message.suspend': ({ messageId: _messageId, token: _token, progress = this.message.progress, ...suspension }) => {
      const { id, attempts } = this.message;
      this.#end({ state: 'BLOCKED', suspension }, { progress, attempts: attempts - 1 });
      return { id, state: 'BLOCKED', blockedBy: [] };
    },
    'message.view': ({ messageId }) => {
      const id = textOf(messageId);
      const [state, workKey] = [this.#states.get(id) ?? 'ACKED', this.#workKeys.get(id) ?? null];
      return { ...this.message, state, workKey, result: this.#results.get(id) ?? null };
    },
    'message.send': ({ mailboxId }) => ({ id: crypto.randomUUID(), mailboxId, state: 'READY', replay: false }),
    'mailbox.create': (fields) => ({ ...fields, id: fields['name'] }),
    'scope.create': ({ scopeId = crypto.randomUUID(), ...fields }) => ({ ...fields, id: scopeId, state: 'IDLE' }),
    'group.create': () => {
      const id = crypto.randomUUID();
      return { id, groupId: id, scopeId: crypto.randomUUID(), state: 'OPEN', replay: false };
    },
    'group.seal': ({ groupId }) => ({ groupId, state: 'SEALED', outcome: null }),
    'task.submit': ({ groupId, taskKey }) => {
      const [id, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
      return { id, taskId: id, taskKey, groupId, messageId, state: 'PENDING', replay: false };
    },
    'pool.list': ({ name }) => ({ pools: [{ id: name, name }], nextCursor: null }),
    'pool.acquire': ({ poolId, scopeId, holder, holderSession, units, leaseSeconds }) => {
      const id = crypto.randomUUID();
      const asked = { poolId, scopeId, holder, holderSession, units, leaseSeconds };
      const granted = { state: 'HELD', fence: ++this.#fence, position: null, heldAt: this.#clock.in(0), replay: false };
      return { id, holdId: id, ...asked, ...granted, token: crypto.randomUUID(), createdAt: this.#clock.in(0) };
    },
    'hold.renew': () => ({}),
    'hold.release': () => ({}),
    'note.view': ({ key }) => this.#note(key),
    'note.put': ({ key, value }) => {
      this.#held();
      return this.put(textOf(key), value);
    },
    'note.delete': ({ key }) => {
      this.#note(key);
      this.notes.delete(textOf(key));
    },
    'note.list': ({ prefix }) => {
      const keys = [...this.notes.keys()].filter((key) => key.startsWith(textOf(prefix))).sort();
      return { notes: keys.map((key) => this.notes.get(key)), nextCursor: null };
    },
    'budget.list': ({ name }) => ({ budgets: [{ id: name, name }], nextCursor: null }),
    'budget.reserve': (fields) => {
      // The client looks for the reservation of an earlier attempt, which has left none.
      if (fields['settleBy'] && Date.parse(textOf(fields['settleBy'])) < this.#clock.now.getTime())
        throw new MusterError('VALIDATION_FAILED', 'settleBy must be in the future');
      const made = { id: crypto.randomUUID(), state: 'ACTIVE', createdAt: this.#clock.in(0) };
      return { ...fields, ...made, remainingMinor: fields['amountMinor'], settledMinor: '0' };
    },
    'budget.settle': ({ budgetId, amountMinor }) => {
      const budget = textOf(budgetId);
      this.spent.set(budget, (this.spent.get(budget) ?? 0n) + BigInt(textOf(amountMinor)));
      return { entry: { amountMinor, overdrawnMinor: '0' }, reservation: { state: 'SETTLED' } };
    },
    'budget.void': () => ({}),
    'budget.view': () => ({ reservations: [], nextCursor: null }),
    'allowance.list': ({ name }) => ({ allowances: [{ id: name, name }], nextCursor: null }),
    'allowance.wait': ({ allowanceId, units }) => {
      const waiterId = crypto.randomUUID();
      this.#take(waiterId, textOf(allowanceId), Number(units));
      return { waiterId, state: 'GRANTED' };
    },
    'allowance.settle': ({ allowanceId, consumptionId, units }) => {
      this.#take(textOf(consumptionId), textOf(allowanceId), Number(units));
      return { availableUnits: 0 };
    },
    'allowance.observe': () => ({}),
    'allowance.cooldown': () => ({}),
  };

  #note(key: unknown) {
    const found = this.notes.get(textOf(key));
    if (!found) throw new MusterError('NOTE_NOT_FOUND', 'there is no such note');
    return found;
  }

  /** Sets the units of a place in line. */
  #take(waiterId: string, name: string, units: number): void {
    const before = this.#taken.get(waiterId) ?? 0;
    this.#taken.set(waiterId, units);
    this.units.set(name, (this.units.get(name) ?? 0) + units - before);
  }
}

function refused({ code, message, status, retryAfterSeconds }: MusterError): Response {
  const headers = retryAfterSeconds === null ? undefined : { 'Retry-After': String(retryAfterSeconds) };
  return Response.json({ error: { code, message } }, { status: status || 409, ...(headers && { headers }) });
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason as Error);
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** The fields of a batch's call, with what earlier calls answered in place of references. */
function referring(value: unknown, results: readonly { readonly body: unknown }[]): unknown {
  if (Array.isArray(value)) return value.map((one) => referring(one, results));
  if (typeof value !== 'object' || value === null) return value;
  if ('$from' in value) {
    const { $from, member = 'id' } = value as { $from: number; member?: string };
    return (results[$from]?.body as TestFields | undefined)?.[member];
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, referring(one, results)]));
}
