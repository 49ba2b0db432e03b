import { behindKoa, inProcess, muster, musterBatch, type StartRunner } from './runners.ts';
import { startBeanstalkd } from './stores/beanstalkd.ts';
import { startNats } from './stores/nats.ts';
import { startPostgresql } from './stores/postgresql.ts';
import { startRedis } from './stores/redis.ts';
import type { StartStore } from './stores/store.ts';

export interface Row {
  title: string;
  /** Where the client is. */
  where: 'HTTP' | 'in process' | 'bare Koa';
  store: StartStore;
  runner: StartRunner;
}

const IN_PROCESS = 'in process';
const KOA = 'bare Koa';
const postgresql = (commit: 'on' | 'off') => () => startPostgresql(commit);

/** The rows by their names in --only, in the order of the table. */
export const ROWS: Record<string, Row> = {
  muster: { title: 'Muster', where: 'HTTP', store: startRedis, runner: muster },
  'muster-batch': { title: 'Muster, batches of 50', where: 'HTTP', store: startRedis, runner: musterBatch },
  bullmq: { title: 'BullMQ', where: IN_PROCESS, store: startRedis, runner: inProcess('bullmq') },
  'bullmq-koa': { title: 'BullMQ', where: KOA, store: startRedis, runner: behindKoa('bullmq') },
  graphile: {
    title: 'PostgreSQL, graphile-worker',
    where: IN_PROCESS,
    store: postgresql('on'),
    runner: inProcess('graphile'),
  },
  'graphile-async': {
    title: 'PostgreSQL, graphile-worker',
    where: IN_PROCESS,
    store: postgresql('off'),
    runner: inProcess('graphile'),
  },
  'pg-boss-koa': { title: 'PostgreSQL, pg-boss', where: KOA, store: postgresql('on'), runner: behindKoa('pg-boss') },
  'pg-boss-async-koa': {
    title: 'PostgreSQL, pg-boss',
    where: KOA,
    store: postgresql('off'),
    runner: behindKoa('pg-boss'),
  },
  beanstalkd: { title: 'beanstalkd', where: IN_PROCESS, store: startBeanstalkd, runner: inProcess('beanstalkd') },
  'beanstalkd-koa': { title: 'beanstalkd', where: KOA, store: startBeanstalkd, runner: behindKoa('beanstalkd') },
  jetstream: { title: 'NATS JetStream', where: IN_PROCESS, store: startNats, runner: inProcess('jetstream') },
  'jetstream-koa': { title: 'NATS JetStream', where: KOA, store: startNats, runner: behindKoa('jetstream') },
};

/** The row that every ratio refers to. */
export const MEASURE = 'muster';
