import PgBoss from 'pg-boss';
import type { Client } from './client.ts';

const QUEUE = 'messages';

/** send, fetch and complete are public calls, so it is the PostgreSQL queue that can stand behind HTTP. */
const service: Client['service'] = async (connectionString) => {
  const boss = new PgBoss({ connectionString, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    send: async (body) => (await boss.send(QUEUE, body as object)) ?? '',
    recv: async () => {
      const [job] = await boss.fetch(QUEUE);
      return job ? { id: job.id, token: '', payload: job.data } : null;
    },
    complete: (id) => boss.complete(QUEUE, id),
  };
};

export const client: Client = { service };
