import Joi from 'joi';
import { addressesOf, sentinelsOf } from './redis/address.ts';

type Role = 'api' | 'worker' | 'all';

/** Every setting of contract section 6, checked, with its default filled in. */
export interface Config {
  role: Role;
  /** 0: any free port */
  port: number;
  /** null: GET /metrics is on the API's port; 0: any free port */
  metricsPort: number | null;
  host: string;
  /** null: the embedded Redis below `dataDir` */
  redisUrl: string | null;
  dataDir: string;
  logLevel: string;
  webhookAllowPrivate: boolean;
  snapshotIntervalSeconds: number;
  snapshotKeep: number;
  /** the redis-server program the embedded store is to use; null: look for one */
  redisServer: string | null;
  /** `maxmemory` of the embedded Redis, such as `6gb`; null: none */
  redisMaxmemory: string | null;
}

/** A setting that cannot be used; the message is one line that says which, why and what would be right. */
export class ConfigError extends Error {}

interface Setting {
  schema: Joi.Schema;
  /** what would be right, as it ends the sentence "… must be" */
  right: string;
  /** may carry a password: it is never repeated */
  secret?: true;
}

const roles: Role[] = ['api', 'worker', 'all'];
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
/** The longest delay of a Node timer in seconds; beyond it, one fires at once. */
const longestSeconds = 2_147_483;
/** Each snapshot is a whole copy of the store: more than this is a slip of the hand. */
const mostSnapshots = 10_000;

const oneOf = (values: string[]): Setting => ({ schema: Joi.valid(...values), right: `one of ${values.join(', ')}` });
const wholeNumber = (from: number, to: number): Setting => ({
  schema: Joi.string().pattern(/^\d+$/).custom(Number).custom(between(from, to)),
  right: `a whole number from ${from} to ${to}`,
});

const settings: Record<keyof Config, Setting & { name: string; otherwise: unknown }> = {
  role: { name: 'ROLE', otherwise: 'all', ...oneOf(roles) },
  port: { name: 'PORT', otherwise: 8080, ...wholeNumber(0, 65_535) },
  metricsPort: { name: 'METRICS_PORT', otherwise: null, ...wholeNumber(0, 65_535) },
  host: {
    name: 'HOST',
    otherwise: '127.0.0.1',
    schema: Joi.string().hostname(),
    right: 'a host name or an IP address, such as 127.0.0.1 or 0.0.0.0',
  },
  redisUrl: {
    name: 'REDIS_URL',
    otherwise: null,
    schema: Joi.string().custom(storeUrl),
    right:
      'redis://user:password@host:port/database (with %XX for what is special in a password), rediss://host:port, unix:///path or the absolute path of a unix socket, nodes of one cluster with commas in between, or redis+sentinel://user:password@host:port,host:port/master-name; without it the embedded Redis is used',
    secret: true,
  },
  dataDir: { name: 'DATA_DIR', otherwise: './data', schema: Joi.string(), right: 'the path of a folder' },
  logLevel: { name: 'LOG_LEVEL', otherwise: 'info', ...oneOf(logLevels) },
  webhookAllowPrivate: {
    name: 'WEBHOOK_ALLOW_PRIVATE',
    otherwise: false,
    schema: Joi.boolean().sensitive(),
    right: 'true or false',
  },
  snapshotIntervalSeconds: {
    name: 'SNAPSHOT_INTERVAL_SECONDS',
    otherwise: 3600,
    ...wholeNumber(1, longestSeconds),
  },
  snapshotKeep: { name: 'SNAPSHOT_KEEP', otherwise: 24, ...wholeNumber(1, mostSnapshots) },
  redisServer: {
    name: 'REDIS_SERVER',
    otherwise: null,
    schema: Joi.string(),
    right: 'the path of a redis-server program',
  },
  redisMaxmemory: {
    name: 'REDIS_MAXMEMORY',
    otherwise: null,
    schema: Joi.string().pattern(/^[1-9]\d{0,6}(mb|gb)$/),
    right: 'a size in mb or gb, such as 512mb or 6gb',
  },
};

/**
 * Reads and checks all settings (contract section 6). An empty value counts as unset, as Compose files pass them on.
 *
 * @throws ConfigError for the first bad one
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config: Record<string, unknown> = {};
  for (const [key, { name, otherwise, schema, right, secret }] of Object.entries(settings)) {
    const text = env[name]?.trim();
    if (text === undefined || text === '') {
      config[key] = otherwise;
      continue;
    }
    const { value, error } = schema.validate(text);
    // JSON keeps it on one line, whatever it holds.
    const given = secret ? 'the given value' : JSON.stringify(text.slice(0, 80));
    if (error) throw new ConfigError(`${name}: ${given} cannot be used; it must be ${right}`);
    config[key] = value;
  }
  const { role, port, metricsPort } = config as unknown as Config;
  if (role !== 'worker' && port !== 0 && metricsPort === port)
    throw new ConfigError(`METRICS_PORT: "${port}" cannot be used; it must be another port than PORT, or be left out`);
  return config as unknown as Config;
}

/** Every setting on a line of its own: its name, its default and what it may be. */
export function settingsHelp(): string {
  const lines = Object.values(settings).map(({ name, otherwise, right }) => {
    const preset = otherwise === null ? 'not set' : `default ${otherwise}`;
    return `  ${name.padEnd(26)}${right} (${preset})`;
  });
  return lines.join('\n');
}

function between(from: number, to: number) {
  return (value: number): number => {
    if (value < from || value > to) throw new Error('out of range');
    return value;
  };
}

function storeUrl(text: string): string {
  const addresses = addressesOf(text);
  for (const address of addresses) if (!isStore(address, addresses.length > 1)) throw new Error('not a store');
  return text;
}

function isStore(address: string, isNode: boolean): boolean {
  if (address.startsWith('/')) return !isNode && address.length > 1;
  if (address.startsWith('redis+sentinel:')) return sentinelsOf(address) !== undefined;
  const { protocol, username, password, hostname, pathname, hash } = new URL(address);
  for (const part of [username, password]) decodeURIComponent(part);
  // What is behind the host and no number is of a password that was not encoded: host and database would be wrong.
  const isWhole = /^(\/\d*)?$/.test(pathname) && hash === '';
  return ['redis:', 'rediss:'].includes(protocol) && hostname !== '' && isWhole;
}
