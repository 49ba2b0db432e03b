import { type Api, Failure } from '../api.ts';
import { el } from '../dom.ts';
import type { Messages } from '../records.ts';

/** A list that has more damaged stretches in a row is shown up to there, and fails behind them. */
const maxPassed = 20;

/** A page of messages, and what the server said of those before it that the store has damaged. */
export interface Readable extends Messages {
  readonly damaged: readonly string[];
}

/** Reads a page of messages; where it begins with damaged ones, the page behind them. */
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

/** Says what is missing in a list. */
export function damageNotes({ damaged }: Pick<Readable, 'damaged'>): Element[] {
  return [...new Set(damaged)].map((text) => el('p', { class: 'problem' }, `Some are not shown: ${text}.`));
}
