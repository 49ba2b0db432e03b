import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import type { Reply, World } from '../support/world.ts';

/** Fields of answers that later requests use. */
const variables: Record<string, string> = { id: 'ID', messageId: 'MESSAGE', token: 'TOKEN' };
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * A client that records its requests as shell lines for MUSTER_URL, MUSTER_SPACE and MUSTER_KEY. Ids from answers
 * become variables in them, so that the lines do the same on any store.
 */
export class Curl {
  readonly #world: World;
  readonly #lines: string[] = [];
  readonly #names = new Map<string, string>();
  #clock = '';
  #moment = 0;
  #isClockSteady = true;
  #keys = 0;
  readonly #done: { method: string; path: string; body: unknown; key: string; reply: Reply }[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Sets the store's clock (epoch milliseconds). */
  async at(moment: number): Promise<void> {
    await this.#world.at(moment);
    if (moment < (this.#moment ?? 0)) this.#isClockSteady = false;
    if (moment !== this.#moment) this.#clock = `# with the store's clock at ${new Date(moment).toISOString()}:`;
    this.#moment = moment;
  }

  /** Posts with a new Idempotency-Key. */
  post(path: string, body?: unknown): Promise<Reply> {
    return this.call('POST', path, body);
  }

  /** Sends any method, with a new Idempotency-Key unless one is given. */
  async call(method: string, path: string, body?: unknown, key = `k${++this.#keys}`): Promise<Reply> {
    const reply = await this.#world.call(method, path, body, { 'Idempotency-Key': key });
    const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`;
    const line = this.#named(`curl -sS -X ${method} ${this.#url(path)} -H 'Idempotency-Key: ${key}'${data}`);
    this.#line(this.#keeping(reply, line));
    if (reply.status < 300) this.#done.push({ method, path, body, key, reply });
    return reply;
  }

  /**
   * Repeats a successful request whose path contains `inPath`, with its Idempotency-Key; expects the first answer,
   * replayed.
   */
  async again(index: number, inPath = ''): Promise<void> {
    const done = this.#done.filter(({ path }) => path.includes(inPath));
    const first = done[index % Math.max(1, done.length)];
    if (!first) return;
    const { status, headers, body } = await this.call(first.method, first.path, first.body, first.key);
    expect(status).to.equal(first.reply.status);
    expect(headers.get('Idempotent-Replayed')).to.equal('true');
    // A 204 has no body.
    const { body: answered } = first.reply;
    expect(body).to.deep.equal(answered && { ...answered, ...('replay' in answered && { replay: true }) });
  }

  /** The line, extended to store values from the answer in variables if they are new. */
  #keeping({ status, body }: Reply, line: string): string {
    const assigned: [name: string, from: string][] = [];
    for (const field of status < 300 ? Object.keys(variables) : []) {
      const value: unknown = body?.[field];
      if (typeof value !== 'string' || this.#names.has(value)) continue;
      const name = `${variables[field]}${this.#names.size + 1}`;
      this.#names.set(value, name);
      assigned.push([name, `grep -o '"${field}":"[^"]*"' | head -1 | cut -d'"' -f4`]);
    }
    if (assigned.length === 0) return line;
    if (assigned.length === 1)
      return assigned.map(([name, from]) => `${name}=$(${line} | tee /dev/stderr | ${from})`).join();
    const each = assigned.map(([name, from]) => `${name}=$(echo "$REPLY" | ${from})`);
    return `REPLY=$(${line} | tee /dev/stderr); ${each.join('; ')}`;
  }

  /** Reads; of consecutive reads only the last is recorded. */
  async get(path: string): Promise<Reply> {
    if (this.#lines.at(-1)?.startsWith('curl -sS "')) this.#lines.splice(-2);
    this.#line(this.#named(`curl -sS ${this.#url(path)}`));
    return this.#world.get(path);
  }

  /** Whether the clock was never set back. */
  get isClockSteady(): boolean {
    return this.#isClockSteady;
  }

  toString(): string {
    return this.#lines.filter((line) => line !== '').join('\n');
  }

  #url(path: string): string {
    return `"$MUSTER_URL/v1/spaces/$MUSTER_SPACE${path}" -H "Authorization: Bearer $MUSTER_KEY"`;
  }

  #named(line: string): string {
    let text = line;
    for (const [id, name] of this.#names)
      text = text.replaceAll(`"${id}"`, `"'"$${name}"'"`).replaceAll(id, `$${name}`);
    return text;
  }

  #line(line: string): void {
    this.#lines.push(this.#clock, line);
    this.#clock = '';
  }
}

/** Runs a sequence; if it fails, adds its requests to the error. */
export async function asCurl(world: World, sequence: (curl: Curl) => Promise<void>): Promise<void> {
  const curl = new Curl(world);
  try {
    await sequence(curl);
    await expectAgreement(world, curl);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\nas requests:\n${curl}\n`);
  }
}
