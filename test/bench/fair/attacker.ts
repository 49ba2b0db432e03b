import { Agent, get } from 'node:http';
import { answer, endWithParent } from '../servers/child.ts';

/** What the connections of an attack ask for. */
export interface Orders {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly isStream?: boolean | undefined;
}

async function once(url: string, headers: Orders['headers'], agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    get(url, { headers, agent }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });
}

/** Resolves with the number of answers by status. */
async function attack({ url, headers, connections, seconds, isStream }: Orders): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + seconds * 1000;
  const counts: Record<string, number> = {};
  const stop = setTimeout(() => agent.destroy(), seconds * 1000);
  const one = async () => {
    while (performance.now() < end) {
      const status = await once(url, headers, agent);
      counts[status] = (counts[status] ?? 0) + 1;
      // A stream ends with the attack.
      if (isStream) return;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  clearTimeout(stop);
  agent.destroy();
  return counts;
}

process.send?.({ url: '' });
answer(attack);
endWithParent();
