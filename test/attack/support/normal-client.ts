import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../support/processes.ts';

/** An ordinary client in its own process: sends, receives, completes and lists, and reports times. */
const [url = '', spaceId = '', apiKey = '', mailboxId = ''] = process.argv.slice(2);
const access = { spaceId, apiKey };
const scopeId = '0190a1b2-0000-7000-8000-000000000000';
let times: number[] = [];
let failures: string[] = [];

async function timed(path: string, body?: unknown) {
  const start = performance.now();
  const answer = await call(url, access, path, body);
  times.push(performance.now() - start);
  if (answer.status >= 300) failures.push(`${path} ${answer.status}`);
  return answer.body;
}

process.on('message', () => {
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.POSITIVE_INFINITY;
  process.send?.({ calls: sorted.length, median: at(0.5), p95: at(0.95), slowest: sorted.at(-1), failures });
  times = [];
  failures = [];
});

for (;;) {
  try {
    await timed(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: { n: 1 } });
    const claim = await timed(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    await timed(`/messages/${claim?.id}/complete`, { token: claim?.token });
    await timed('/mailboxes');
    // On a quiet machine it would otherwise make more calls a minute than its space may.
    await sleep(8);
  } catch (error) {
    failures.push(String(error));
  }
}
