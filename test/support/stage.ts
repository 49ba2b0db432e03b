import { isAtomic } from '../../src/engine/route/batch-route.ts';
import { pathNames, type Route } from '../../src/engine/route/route.ts';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { fieldsOf, makeRecords, type Objects } from '../attack/support/objects.ts';
import { putStored, readStored, type Stored, takeStored } from './stored.ts';
import { type Reply, World } from './world.ts';

export type Call = Record<string, unknown>;
export interface Result {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

/** The routes that atomic batches take. */
export const routes = allRoutes.filter(isAtomic);
export const routeOf = ({ call }: Call): Route => routes.find((route) => route.call === call) as Route;
const headers = { 'X-Request-Id': 'pair', 'Idempotency-Key': 'pair' };
/** Random parts of ids, places in a queue, tokens and fences. Their parts from the clock stay the same. */
const random: readonly (readonly [RegExp, number])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[1-7][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 15],
  [/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}(?= )/g, 15],
  [/[0-9a-f]{32}/g, 0],
  // The tokens of links and their digests.
  [/(?<=\/answer\/|links\\t|"|[\w-]{43} )[\w-]{43,}/g, 0],
  // A fence contains the microsecond.
  [/17\d{14}/g, 13],
];

/** A world that can be reset to its initial state. */
export class Stage {
  readonly world: World;
  readonly objects: Objects;
  readonly #stored: Stored;
  readonly #known: string;
  /** For each text that was looked up: whether `#known` contains it. */
  readonly #looks = new Map<string, boolean>();
  /** The text to compare of each key in its initial state. */
  readonly #unchanged = new Map<string, string>();
  #untouched: string[] = [];

  private constructor(world: World, objects: Objects, stored: Stored, known: string) {
    this.world = world;
    this.objects = objects;
    this.#stored = stored;
    this.#known = known;
  }

  static async create(more: (world: World, objects: Objects) => Promise<Objects>): Promise<Stage> {
    const world = await World.create();
    await world.at(Date.now() + 60_000);
    const objects = await makeRecords(world);
    const all = { ...objects, ...(await more(world, objects)) };
    const known = [...(await readStored(world))].join('\n');
    const stage = new Stage(world, all, await takeStored(world), known);
    for (const [key, text] of await stage.#read(() => true)) stage.#unchanged.set(key, text);
    stage.#untouched = await stage.#state();
    return stage;
  }

  callOf(route: Route): Call {
    return { call: route.call, ...fieldsOf(route, this.objects) };
  }

  /** Whether the text was there initially. */
  isKnown(text: string): boolean {
    const known = this.#looks.get(text) ?? this.#known.includes(text);
    this.#looks.set(text, known);
    return known;
  }

  #anonymous(text: string): string {
    const hide = (all: string, [form, kept]: readonly [RegExp, number]): string =>
      all.replaceAll(form, (id) => (this.isKnown(id) ? id : `${id.slice(0, kept)}…`));
    return random.reduce(hide, text);
  }

  /** Everything stored except idempotent answers and the lists of queues, which may have dead entries. */
  async #state(): Promise<string[]> {
    const found = await takeStored(this.world);
    const isSame = (key: string): boolean => this.#stored.get(key)?.equals(found.get(key) ?? Buffer.of()) ?? false;
    const unchanged = [...found.keys()].flatMap((key) => (isSame(key) ? (this.#unchanged.get(key) ?? []) : []));
    const changed = await this.#read((key) => !isSame(key));
    return [...unchanged, ...changed.values()].sort();
  }

  async #read(isWanted: (key: string) => boolean): Promise<Map<string, string>> {
    const isCompared = (key: string): boolean => !/:idempotency:|:ticks$|:queue$/.test(key);
    const stored = await readStored(this.world, (key) => isCompared(key) && isWanted(key));
    // Links are stored under random texts, so their order is random.
    const inOrder = (text: string): string =>
      text.includes(':links ') ? text.replaceAll(',', '').split('\n').sort().join('\n') : text;
    return new Map([...stored].map(([key, value]) => [key, inOrder(this.#anonymous(`${key} ${value}`))]));
  }

  /** Makes the calls one by one, up to the first refused one. Returns their answers and the state stored then. */
  async inSequence(calls: readonly Call[]): Promise<{ results: Result[]; state: string[] }> {
    await putStored(this.world, this.#stored);
    const results: Result[] = [];
    for (const [index, call] of calls.entries()) {
      const { call: _name, ...fields } = JSON.parse(JSON.stringify(call), (_, value) =>
        value?.$from === undefined ? value : results[value.$from]?.body[value.member ?? 'id'],
      ) as Call;
      const route = routeOf(call);
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(fields[name]));
      const body = Object.fromEntries(Object.entries(fields).filter(([name]) => !pathNames(route).includes(name)));
      const key = { ...headers, 'Idempotency-Key': `pair-${index}` };
      const reply = await this.world.call(route.method, path, route.method === 'GET' ? undefined : body, key);
      results.push({ status: reply.status, body: reply.body ?? null });
      if (reply.status >= 300) break;
    }
    return { results, state: await this.#state() };
  }

  /** Makes the calls as an atomic batch on the initial state. */
  async atomically(calls: readonly Call[]): Promise<Reply> {
    await this.reset();
    return this.world.post('/batch', { atomic: true, calls }, headers);
  }

  /** Resets everything to the initial state. */
  async reset(): Promise<void> {
    await putStored(this.world, this.#stored);
  }

  /**
   * How the atomic batch of the calls differs from making them one by one; undefined if it does not. If one of them is
   * refused, the batch must be refused with the same error and change nothing.
   */
  async differenceOf(calls: readonly Call[]): Promise<string | undefined> {
    const { results, state } = await this.inSequence(calls);
    const reply = await this.atomically(calls);
    const found = await this.#state();
    const index = results.length - 1;
    const { status = 0, body } = results[index] ?? {};
    if (status < 300)
      return (
        this.#differ(
          reply.body.results ?? reply.body,
          results.map((result, at) => shown(result, calls[at] ?? {})),
        ) ?? this.#differ(found, state)
      );
    const refused = { ...body.error, index, call: calls[index]?.['call'] };
    return (
      this.#differ({ status: reply.status, ...reply.body.error }, { status, ...refused }) ??
      this.#differ(found.map(uncounted), this.#untouched.map(uncounted))
    );
  }

  #differ(found: unknown, expected: unknown): string | undefined {
    const [a = [], b = []] = [found, expected].map((value) =>
      this.#anonymous(JSON.stringify(value, null, 1)).split('\n'),
    );
    const more = a.filter((line) => !b.includes(line)).slice(0, 2);
    const missing = b.filter((line) => !a.includes(line)).slice(0, 2);
    return more.length + missing.length === 0 ? undefined : `${more.join(' ')} instead of ${missing.join(' ')}`;
  }
}

/** A result as shown in a batch. */
function shown({ status, body }: Result, call: Call): object {
  const without = routeOf(call).asRecord?.without ?? [];
  const kept = body && Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name)));
  return { status, body: kept, replayed: false };
}

/** A refused batch has counted one request. */
const uncounted = (line: string): string => line.replaceAll(/(usedRequests|usedRecovery)\\t\d+/g, '$1');
