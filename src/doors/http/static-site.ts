import { basename } from 'node:path';
import type { Step } from './context.ts';
import { readOnly } from './probes.ts';
import { answerShared, madeOnce, revalidated, type SharedBody, sharedBody } from './shared-body.ts';

export interface SiteSource {
  readonly path: string;
  readonly type: string;
  readonly read: () => Promise<Buffer>;
}

/** The headers of pages with this Content-Security-Policy. */
export function headersUnder(policy: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

/** Pages for people: a home (`/docs`) and the files below it. Paths are looked up in a list, so no other file can be read. */
export class Site {
  readonly #home: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #files: ReadonlyMap<string, () => Promise<SharedBody>>;

  /** policy: the Content-Security-Policy of every answer. */
  constructor(home: string, policy: readonly string[], sources: readonly SiteSource[]) {
    this.#home = home;
    // Read on the first request and kept, since files only change with a release.
    this.#files = new Map(
      sources.map(({ path, type, read }) => [
        path,
        madeOnce(Number.POSITIVE_INFINITY, async () => sharedBody(type, await read())),
      ]),
    );
    this.#headers = headersUnder(policy);
  }

  /** The step that serves its paths. */
  readonly pages: Step = async (ctx, next) => {
    const { path, state } = ctx;
    if (path === `${this.#home}/`) {
      readOnly(ctx, path);
      // A page names its files relative to its home, so it also works below a proxy's prefix.
      const location = { Location: `../${basename(this.#home)}`, 'Content-Length': '0' };
      state.answer = { status: 308, headers: { ...this.#headers, ...revalidated, ...location } };
      return;
    }
    const file = this.#files.get(path)?.();
    if (!file) return next();
    readOnly(ctx, path.startsWith(`${this.#home}/`) ? `${this.#home}/:file` : path);
    answerShared(ctx, await file, this.#headers);
  };
}
