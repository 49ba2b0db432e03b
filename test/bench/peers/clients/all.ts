import type { Client } from './client.ts';

const NAMES = ['bullmq', 'graphile', 'pg-boss', 'beanstalkd', 'jetstream'] as const;

export type ClientName = (typeof NAMES)[number];

/** The client and the address of the store that the parent has put into the environment. */
export async function clientOfThisProcess(): Promise<{ client: Client; address: string }> {
  const { BENCH_CLIENT: name, BENCH_STORE: address } = process.env;
  if (!NAMES.some((one) => one === name) || !address)
    throw new Error('this file is started by test/bench/peers/main.ts');
  // Only one is loaded per process, so that none pays for another's code. The compiler does not follow this name: most
  // clients need packages that only this folder's package.json has.
  const { client } = (await import(`./${name}.ts`)) as { client: Client };
  return { client, address };
}
