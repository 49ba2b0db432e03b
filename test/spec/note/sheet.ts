import { randomUUID } from 'node:crypto';
import type { Reply } from '../../support/world.ts';
import { World } from '../../support/world.ts';

/** The notes of a scope, and the requests for them. */
export class Sheet {
  readonly world: World;
  readonly scopeId: string;

  constructor(world: World, scopeId: string = randomUUID()) {
    this.world = world;
    this.scopeId = scopeId;
  }

  static async create(choice: Parameters<typeof World.create>[0] = {}): Promise<Sheet> {
    return new Sheet(await World.create(choice));
  }

  path(key: string, query = ''): string {
    return `/scopes/${this.scopeId}/notes/${encodeURIComponent(key)}${query}`;
  }

  put(key: string, value: unknown, fields: object = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.world.call('PUT', this.path(key), { value, ...fields }, headers);
  }

  /** Puts, and expects a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async mustPut(key: string, value: unknown, fields: object = {}): Promise<any> {
    const reply = await this.put(key, value, fields);
    if (reply.status >= 300) throw new Error(`PUT ${key}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  get(key: string, query = ''): Promise<Reply> {
    return this.world.get(this.path(key, query));
  }

  delete(key: string, query = ''): Promise<Reply> {
    return this.world.call('DELETE', this.path(key, query));
  }

  list(query = ''): Promise<Reply> {
    return this.world.get(`/scopes/${this.scopeId}/notes${query}`);
  }

  /** The keys of all pages. */
  async keys(query = ''): Promise<string[]> {
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, text } = await this.list(`?${cursor}${query}`);
      if (!body.notes) throw new Error(text);
      keys.push(...body.notes.map(({ key }: { key: string }) => key));
      cursor = body.nextCursor && `&cursor=${body.nextCursor}`;
    }
    return keys;
  }

  async retainedBytes(): Promise<number> {
    return (await this.world.get('/usage')).body.days.at(-1).retainedBytes;
  }
}
