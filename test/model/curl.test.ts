import { expect } from 'chai';
import fc from 'fast-check';
import { World } from '../support/world.ts';
import { asCurl } from './curl.ts';

describe('a model test', () => {
  it('shrinks a failing sequence and prints it as curl lines', async () => {
    const wrong = fc.asyncProperty(fc.array(fc.integer({ min: 6, max: 9 }), { maxLength: 8 }), async (amounts) => {
      await asCurl(await World.create(), async (curl) => {
        const budget = await curl.post('/budgets', { name: "it's one", currency: 'EUR', scale: 2, limitMinor: '5' });
        const scopeId = '0190a1b2-0000-7000-8000-000000000000';
        for (const amount of amounts) {
          await curl.at(2_000_000_000_000);
          const path = `/budgets/${budget.body.id}/reserve`;
          const { status } = await curl.post(path, { scopeId, holder: 'h', amountMinor: `${amount}` });
          expect(status, 'a budget that never ends').to.equal(201);
        }
      });
    });
    const { failed, errorInstance } = await fc.check(wrong, { seed: 1, numRuns: 50 });
    expect(failed).to.equal(true);
    const lines = String(errorInstance).split('as requests:\n')[1]?.trim().split('\n') ?? [];
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
  });
});
