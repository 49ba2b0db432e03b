import { randomUUID } from 'node:crypto';
import type { Access } from '../../support/processes.ts';
import type { Heard } from '../caller.ts';
import type { Operation } from '../history.ts';
import { Shared } from './scene.ts';

/** A scope with notes that all clients change. */
export interface Sheet {
  readonly access: Access;
  readonly scopeId: string;
  /** The versions that somebody has seen, by key. */
  readonly seen: Map<string, number>;
}

const keys = ['a', 'b'];

export const noteValue = ({ version, value }: Heard['body']): Operation['value'] => ({ version, value });

/** Notes that are put, unconditionally or only at a version, read and deleted. */
export class SheetScene extends Shared<Sheet> {
  protected async make(): Promise<Sheet> {
    const sheet = { access: this.access, scopeId: randomUUID(), seen: new Map() };
    this.load.sheets.push(sheet);
    return sheet;
  }

  protected async use(client: number, { scopeId, seen }: Sheet): Promise<void> {
    const { load, access } = this;
    const { chance } = load;
    const key = chance.of(keys);
    const at = { object: `notes ${scopeId}`, path: `/scopes/${scopeId}/notes/${key}` };
    const ifVersion = chance.next() < 0.7 ? (seen.get(key) ?? 0) : undefined;
    const input = { key, ...(ifVersion !== undefined && { ifVersion }) };
    const choice = chance.next();
    if (choice < 0.3) {
      const { body } = await load.call(client, access, {
        ...{ kind: 'read note', ...at, input: { key }, body: undefined, refuses: ['NOTE_NOT_FOUND'], read: noteValue },
      });
      seen.set(key, body.version ?? 0);
      return;
    }
    if (choice < 0.45) {
      const query = ifVersion ? `?ifVersion=${ifVersion}` : '';
      const asked = { key, ...(ifVersion && { ifVersion }) };
      await load.call(client, access, {
        ...{ kind: 'delete note', object: at.object, path: at.path + query, input: asked, body: {}, method: 'DELETE' },
        refuses: ['NOTE_NOT_FOUND', 'VERSION_CONFLICT'],
      });
      return;
    }
    const value = chance.below(1_000_000);
    const { body } = await load.call(client, access, {
      ...{ kind: 'put note', ...at, input: { ...input, value }, body: { value, ifVersion }, method: 'PUT' },
      ...{ refuses: ['VERSION_CONFLICT'], read: ({ version }) => ({ version }) },
    });
    if (body.version) seen.set(key, body.version);
  }
}
