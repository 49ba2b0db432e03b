import type { Access } from '../../support/processes.ts';
import type { Workload } from '../workload.ts';

/** One primitive in one space. */
export interface Scene {
  turn(client: number): Promise<void>;
}

/** Something that all clients use for a while; then the next one is made, so that histories stay short. */
export abstract class Shared<T> implements Scene {
  protected readonly load: Workload;
  protected readonly access: Access;
  readonly #uses: number;
  #current: Promise<T | undefined> | undefined;
  #left = 0;

  constructor(load: Workload, access: Access, uses: number) {
    this.load = load;
    this.access = access;
    this.#uses = uses;
  }

  /** undefined if it was refused, which is noted as unexpected. */
  protected abstract make(client: number): Promise<T | undefined>;
  protected abstract use(client: number, thing: T): Promise<void>;

  async turn(client: number): Promise<void> {
    if (this.#left-- <= 0 || !this.#current) {
      this.#left = this.#uses;
      this.#current = this.make(client);
    }
    const thing = await this.#current;
    if (thing !== undefined) await this.use(client, thing);
  }

  /** Creates something, and returns its id. */
  protected async create(
    client: number,
    kind: string,
    path: string,
    body: unknown,
    refuses: readonly string[] = [],
  ): Promise<string | undefined> {
    const object = (created: { id: string }) => `${kind} ${created.id}`;
    const plan = { kind: `create ${kind}`, object, path, body, refuses };
    const { status, body: created } = await this.load.call(client, this.access, plan);
    return status < 300 ? created.id : undefined;
  }
}
