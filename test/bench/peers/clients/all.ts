import type { Client } from './client.ts';

/** Loaded one per process, so that none pays for another's code. */
const CLIENTS = {
  bullmq: async (): Promise<Client> => (await import('./bullmq.ts')).bullmq,
  graphile: async (): Promise<Client> => (await import('./graphile.ts')).graphile,
  'pg-boss': async (): Promise<Client> => (await import('./pg-boss.ts')).pgBoss,
  beanstalkd: async (): Promise<Client> => (await import('./beanstalkd.ts')).beanstalkd,
  jetstream: async (): Promise<Client> => (await import('./jetstream.ts')).jetstream,
};

export type ClientName = keyof typeof CLIENTS;

/** What a child process is told by its parent's environment. */
export async function clientOfThisProcess(): Promise<{ client: Client; address: string }> {
  const { BENCH_CLIENT: name, BENCH_STORE: address } = process.env;
  if (!name || !(name in CLIENTS) || !address) throw new Error('this file is started by test/bench/peers/main.ts');
  return { client: await CLIENTS[name as ClientName](), address };
}
