import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { traceOf } from '../../support/trace.ts';
import { World } from '../../support/world.ts';

const form = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|(?<="nextCursor":")[^"]+/g;

/** One world, and the names that both worlds share for values in its answers. */
class Twin {
  readonly world: World;
  readonly #names = new Map<string, string>();
  readonly values = new Map<string, string>();
  constructor(world: World) {
    this.world = world;
  }

  name(value: string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const name = `{${this.#names.size}}`;
    this.#names.set(value, name);
    this.values.set(name, value);
    return name;
  }

  /** Replaces ids, tokens and cursors with names. */
  named(text: string): string {
    return text.replace(form, (value) => this.name(value));
  }

  translated(text: string): string {
    return text.replace(/\{\d+\}/g, (name) => this.values.get(name) ?? name);
  }
}

/** Two worlds that get the same calls at the same moments; finished messages of the second are packed. */
export class Twins {
  readonly #plain: Twin;
  readonly #packed: Twin;
  readonly #start: number;
  now: number;
  calls = 0;

  private constructor(plain: World, packed: World, now: number) {
    this.#plain = new Twin(plain);
    this.#packed = new Twin(packed);
    this.now = now;
    this.#start = now;
  }

  static async create(...args: Parameters<typeof World.create>): Promise<Twins> {
    const [plain, packed] = [await World.create(...args), await World.create(...args)];
    const twins = new Twins(plain, packed, Math.ceil(Date.now() / 86_400_000) * 86_400_000);
    await twins.pass(0);
    return twins;
  }

  get worlds(): readonly [World, World] {
    return [this.#plain.world, this.#packed.world];
  }

  get packed(): World {
    return this.#packed.world;
  }

  /** Days since it began. */
  get days(): number {
    return (this.now - this.#start) / 86_400_000;
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    await Promise.all(this.worlds.map((world) => world.at(this.now)));
  }

  /** Packs the finished messages of the second world. */
  async pack(size = 100, patienceMs = 0): Promise<void> {
    const { service, org, spaceId } = this.packed;
    await service.packing.packMessages(org, spaceId, undefined, { sealAfterMs: 0, isAll: true, size, patienceMs });
  }

  /** Makes a call in both, in which names stand for ids, and expects the same answer. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async call(method: string, path: string, body?: unknown, key: string = randomUUID()): Promise<any> {
    this.calls++;
    const [one, other] = await Promise.all(
      [this.#plain, this.#packed].map(async (twin) => {
        const translated = (text: string) => twin.translated(text);
        const sent = body === undefined ? undefined : JSON.parse(translated(JSON.stringify(body)));
        const { status, text } = await twin.world.call(method, translated(path), sent, {
          'Idempotency-Key': key,
          ...traceOf(key),
        });
        return { status, text: twin.named(text.replace(/,"requestId":"[^"]+"\}\}$/, '}}')) };
      }),
    );
    expect(one?.status, `${method} ${path}`).to.be.below(500);
    expect(other, `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(one);
    return { status: one?.status, body: one?.text === '' ? undefined : JSON.parse(one?.text ?? '') };
  }

  get(path: string) {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown, key?: string) {
    return this.call('POST', path, body, key);
  }
}
