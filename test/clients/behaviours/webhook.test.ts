import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { verifyWebhook, WebhookError } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findPython } from '../../support/python.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Case {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secrets: readonly string[];
  /** Seconds since 1970. */
  readonly now: number;
  /** Null: it is genuine. */
  readonly error: string | null;
}

const { cases, secret, ...usual } = JSON.parse(readFileSync(here('webhook.json'), 'utf8')) as {
  readonly cases: readonly (Partial<Case> & Pick<Case, 'title' | 'headers'>)[];
  readonly secret: string;
  readonly now: number;
  readonly body: string;
};
const all: readonly Case[] = cases.map((one) => ({ ...usual, secrets: [secret], error: null, ...one }));

type Verify = (all: readonly Case[]) => Promise<readonly (string | null)[]>;

const clients: Readonly<Record<string, Verify>> = {
  TypeScript: (all) =>
    Promise.all(
      all.map(({ body, headers, secrets, now }) =>
        verifyWebhook(body, headers, secrets, { now: now * 1000 }).then(
          () => null,
          (error) => (error instanceof WebhookError ? error.message : `another error: ${error}`),
        ),
      ),
    ),
  Python: async (all) => {
    const { command, env } = await findPython();
    const child = spawn(command, [here('verified.py')], {
      env: { ...env, PYTHONPATH: here('../../../src/clients/python') },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endAtExit(child);
    child.stdin.end(JSON.stringify(all));
    return (await json(child.stdout)) as (string | null)[];
  },
};

for (const [language, verify] of Object.entries(clients))
  describe(`Verifying webhooks in ${language}`, () => {
    let found: readonly (string | null)[];
    before(async () => {
      found = await verify(all);
    });
    for (const [n, { title, error }] of all.entries())
      it(title, () => {
        expect(found[n]).to.equal(error);
      });
  });
