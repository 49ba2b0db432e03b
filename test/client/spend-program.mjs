// A worker process whose handler makes a model call, for tests that stop and kill it. test/python/spend_program.py does the
// same. The payload has the account at the provider, and an instruction to it for each attempt.
import { createMuster, Worker } from 'muster-client';

const { url, key, spaceId, provider, maxSeconds, ...options } = JSON.parse(process.env.SPEND ?? '{}');
const muster = createMuster({ url, key, spaceId });
const price = ({ inputTokens, outputTokens }) => inputTokens + outputTokens;

const worker = new Worker(muster, options, ({ payload, attempt }, { spend, signal }) => {
  const {
    timeoutSeconds = 3600,
    budget = payload.budget,
    waits,
    ...ask
  } = payload.asks[(attempt - 1) % payload.asks.length];
  const estimate = { amountMinor: 100, units: 100 };
  return spend({ budget, quota: payload.quota, estimate, price, maxSeconds, attempts: 1 }, async (call) => {
    console.log('entered');
    if (waits) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    const response = await call.fetch(`${provider}/${payload.account}`, {
      method: 'POST',
      headers: { 'Idempotency-Key': call.workKey },
      body: JSON.stringify(ask),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    });
    if (!response.ok) throw new Error(`the provider says ${response.status}`);
    await response.text();
  });
});
// Calls fail while the service is away.
worker.on('error', ({ error, isFatal }) => isFatal && console.error(error));
