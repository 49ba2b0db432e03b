import { type Api, Failure } from '../api.ts';
import { el } from '../dom.ts';
import type { Messages } from '../records.ts';

/** A page with more damaged stretches in a row before it cannot be read. */
const maxPassed = 20;

/** A page of messages, and the server's descriptions of the damaged messages skipped before it. */
export interface Readable extends Messages {
  readonly damaged: readonly string[];
}

/** Reads a page of messages. If it begins with damaged ones, reads the page after them. */
export async function readPassing(api: Api, path: string, signal: AbortSignal): Promise<Readable> {
  const damaged: string[] = [];
  for (let at = path; ; ) {
    try {
      return { ...(await api.get<Messages>(at, signal)), damaged };
    } catch (error) {
      const isDamage = error instanceof Failure && error.code === 'MESSAGES_DAMAGED';
      const [, what = '', cursor] = (isDamage && /^(.*); cursor=(\S+) continues/.exec(error.message)) || [];
      if (cursor === undefined || damaged.length === maxPassed) throw error;
      damaged.push(what);
      at = `${path.replace(/&cursor=[^&]*/, '')}&cursor=${cursor}`;
    }
  }
}

/** Notes that say which messages are missing from a list. */
export function damageNotes({ damaged }: Pick<Readable, 'damaged'>): Element[] {
  return [...new Set(damaged)].map((text) => el('p', { class: 'problem' }, `Some are not shown: ${text}.`));
}
