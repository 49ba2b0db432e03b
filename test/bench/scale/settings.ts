import { readArgs } from '../options.ts';

const NUMBERS = {
  // All calls together must stay below the 100,000 a minute that a space takes.
  times: { default: 1000, min: 100, max: 1_500, says: 'calls of each operation' },
  connections: { default: 50, min: 1, says: 'HTTP connections at once' },
  'payload-bytes': { default: 100, min: 2, says: 'bytes of the payload of a message' },
  'retention-days': { default: 30, min: 0, says: 'days that finished messages are kept' },
  'shard-gib': { default: 64, min: 0.001, says: 'GiB of memory that the data of one shard may fill' },
  'history-messages': {
    default: 100_000,
    min: 1_500,
    max: 600_000,
    says: 'messages that are finished and packed, of each kind of payload',
  },
  seconds: { default: 5, min: 1, says: 'seconds of each step of the simulation' },
};
const LISTS = {
  // 1,000 agents with 5 operations a minute each; 28 million operations a day; a fleet of 20,000 such agents.
  loads: { default: '83.3,324,1667', known: 'numbers', says: 'operations a second to work out the needs of' },
  simulate: {
    default: '1,2',
    known: 'numbers',
    mayBeNone: true,
    says: 'numbers of API processes to load until they no longer keep up, or "none"',
  },
} as const;

export interface Options {
  times: number;
  connections: number;
  payloadBytes: number;
  retentionDays: number;
  shardGib: number;
  historyMessages: number;
  seconds: number;
  /** The loads to compute, in operations a second. */
  loads: number[];
  /** The numbers of API processes to simulate. */
  simulate: number[];
}

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  const read = readArgs('bench:scale', NUMBERS, LISTS, args);
  if (typeof read === 'string') return read;
  return {
    ...{ times: read.times, connections: read.connections, seconds: read.seconds },
    payloadBytes: read['payload-bytes'],
    retentionDays: read['retention-days'],
    shardGib: read['shard-gib'],
    historyMessages: read['history-messages'],
    loads: read.loads.map(Number),
    simulate: read.simulate.map(Number),
  };
}
