import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { withCurl } from '../support/curl.ts';
import { World } from '../support/world.ts';
import { trySequences } from './sequences.ts';

describe('a model test', () => {
  it('shrinks a failing sequence and prints it as curl lines that reproduce it', async () => {
    const wrong = trySequences({
      ...{ first: fc.constant('5'), step: fc.integer({ min: 6, max: 9 }), maxLength: 8 },
      ...{ outcomes: [], met: new Set<string>() },
      run: async (curl, _, __, limitMinor, amounts) => {
        const budget = await curl.post('/budgets', { name: "it's one", currency: 'EUR', scale: 2, limitMinor });
        const scopeId = '0190a1b2-0000-7000-8000-000000000000';
        for (const amount of amounts) {
          await curl.at(2_000_000_000_000);
          const path = `/budgets/${budget.body.id}/reserve`;
          const { status } = await curl.post(path, { scopeId, holder: 'h', amountMinor: `${amount}` });
          expect(status, 'a budget that never ends').to.equal(201);
        }
      },
    });
    const failure = await wrong.then(
      () => undefined,
      (error: Error) => error,
    );
    // mocha prints an error with its cause.
    const [begin, ...lines] = String(failure?.cause).split('as requests:\n')[1]?.trim().split('\n') ?? [];
    expect(begin).to.match(/^# with the store's clock at 20\d\d-.*:$/);
    const curl = (path: string, key: string, body: string): string =>
      `curl -sS -X POST "$MUSTER_URL/v1/spaces/$MUSTER_SPACE${path}" -H "Authorization: Bearer $MUSTER_KEY" -H 'Idempotency-Key: ${key}' -H 'Content-Type: application/json' -d '${body}'`;
    const firstId = ` | tee /dev/stderr | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4)`;
    expect(lines).to.deep.equal([
      `ID1=$(${curl('/budgets', 'k1', `{"name":"it'\\''s one","currency":"EUR","scale":2,"limitMinor":"5"}`)}${firstId}`,
      "# with the store's clock at 2033-05-18T03:33:20.000Z:",
      curl(
        '/budgets/$ID1/reserve',
        'k2',
        '{"scopeId":"0190a1b2-0000-7000-8000-000000000000","holder":"h","amountMinor":"6"}',
      ),
    ]);
    const { url, spaceId, apiKey } = await World.create();
    const env = await withCurl({ ...process.env, MUSTER_URL: url, MUSTER_SPACE: spaceId, MUSTER_KEY: apiKey });
    const { stdout } = await promisify(execFile)('bash', ['-c', lines.join('\n')], { env });
    expect(JSON.parse(stdout).error.code).to.equal('INSUFFICIENT_BUDGET');
  });
});
