import { randomUUID } from 'node:crypto';
import type { World } from '../support/world.ts';

/** An answer of a question's page. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends the form of a page; without fields, opens the page. */
export async function visit(url: string, fields?: Readonly<Record<string, string>>, method?: string): Promise<Shown> {
  const sent = fields ? { method: 'POST', body: new URLSearchParams(fields) } : { method: method ?? 'GET' };
  const answer = await fetch(url, sent);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

// biome-ignore lint/suspicious/noExplicitAny: as World's own answers.
export const asked = (world: World, more: object = {}): Promise<any> =>
  world.mustPost('/questions', { scopeId: randomUUID(), question: 'Publish?', holder: 'worker-1', ...more });
