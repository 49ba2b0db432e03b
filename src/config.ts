import Joi from 'joi';
import { isAuthentic } from './doors/oidc/address.ts';
import { addressesOf, sentinelsOf } from './engine/redis/address.ts';

type Role = 'api' | 'worker' | 'all';

/** All settings (docs/reference.md, "Processes and settings"), validated, with defaults filled in. */
export interface Config {
  role: Role;
  /** 0: any free port */
  port: number;
  /** null: GET /metrics is on the API's port; 0: any free port */
  metricsPort: number | null;
  host: string;
  /** Where callers reach the API, without a trailing slash; null: where it listens */
  publicUrl: string | null;
  /** The origins whose web pages may call the API; null: none but its own */
  corsOrigins: readonly string[] | null;
  /** The OpenID provider whose tokens are accepted; null: none */
  oidcIssuer: string | null;
  oidcAudience: string | null;
  /** The claim that holds the caller's organization, permissions and spaces */
  oidcClaim: string;
  /** null: people sign in to the console by API key alone */
  oidcClientId: string | null;
  /** The scopes that the console and MCP clients request, separated by spaces */
  oidcScope: string;
  /** null: the embedded Redis in `dataDir` */
  redisUrl: string | null;
  /** Whether a Redis is taken that evicts keys when its memory is full */
  allowEviction: boolean;
  dataDir: string;
  logLevel: string;
  /**
   * Where spans are exported to, by OTLP over HTTP; null: no spans are made. The SDK reads it, as well as other OTEL_…
   * variables
   */
  otelExporterOtlpEndpoint: string | null;
  otelExporterOtlpProtocol: string;
  /** Where a trace can be viewed, with `{traceId}` in it; null: nowhere */
  traceUrl: string | null;
  webhookAllowPrivate: boolean;
  /** 0: history is never packed */
  sealAfterSeconds: number;
  /** 0: no snapshots, as backups are made in another way */
  snapshotIntervalSeconds: number;
  snapshotKeep: number;
  /** the redis-server program of the embedded store; null: look for one */
  redisServer: string | null;
  /** `maxmemory` of the embedded Redis, such as `6gb`; null: none */
  redisMaxmemory: string | null;
}

/** An invalid setting. The one-line message says which, and what is allowed. */
export class ConfigError extends Error {}

interface Setting {
  schema: Joi.Schema;
  /** the allowed values, to complete the sentence "it must be …" */
  allowed: string;
  /** may contain a password: the value is never printed */
  secret?: true;
}

const roles: Role[] = ['api', 'worker', 'all'];
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
/** Node's longest timer, in seconds; longer ones fire immediately. */
const maxSeconds = 2_147_483;
/** Each snapshot is a full copy of the store, so a larger number must be a typo. */
const maxSnapshots = 10_000;
/** Far longer than any plan's retention. */
const maxSealSeconds = 315_360_000;

const printable = /^[!-~]{1,255}$/;

const oneOf = (values: string[]): Setting => ({ schema: Joi.valid(...values), allowed: `one of ${values.join(', ')}` });
const wholeNumber = (from: number, to: number): Setting => ({
  schema: Joi.string().pattern(/^\d+$/).custom(Number).custom(between(from, to)),
  allowed: `a whole number from ${from} to ${to}`,
});

const settings: Record<keyof Config, Setting & { name: string; fallback: unknown }> = {
  role: { name: 'ROLE', fallback: 'all', ...oneOf(roles) },
  port: { name: 'PORT', fallback: 8080, ...wholeNumber(0, 65_535) },
  metricsPort: { name: 'METRICS_PORT', fallback: null, ...wholeNumber(0, 65_535) },
  host: {
    name: 'HOST',
    fallback: '127.0.0.1',
    schema: Joi.string().hostname(),
    allowed: 'a host name or an IP address, such as 127.0.0.1 or 0.0.0.0',
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    fallback: null,
    schema: Joi.string().custom(publicUrl),
    allowed: 'an http or https address, with a path or without, such as https://muster.example.com',
    secret: true,
  },
  corsOrigins: {
    name: 'CORS_ORIGINS',
    fallback: null,
    schema: Joi.string().custom(originList),
    allowed: 'a comma-separated list of origins of web pages, such as https://app.example.com,http://localhost:5173',
  },
  oidcIssuer: {
    name: 'OIDC_ISSUER',
    fallback: null,
    schema: Joi.string().custom(issuerUrl),
    allowed:
      'the https address that is the iss of its tokens (http on a loopback address), such as https://login.example.com/realms/main',
    secret: true,
  },
  oidcAudience: {
    name: 'OIDC_AUDIENCE',
    fallback: null,
    schema: Joi.string().pattern(printable),
    allowed: 'the aud of tokens for this server, without spaces, such as https://muster.example.com',
  },
  oidcClaim: {
    name: 'OIDC_CLAIM',
    fallback: 'muster',
    schema: Joi.string().pattern(printable),
    allowed: 'the name of a claim, without spaces',
  },
  oidcClientId: {
    name: 'OIDC_CLIENT_ID',
    fallback: null,
    schema: Joi.string().pattern(printable),
    allowed: 'the id under which the issuer knows the console, without spaces',
  },
  oidcScope: {
    name: 'OIDC_SCOPE',
    fallback: 'openid',
    schema: Joi.string().pattern(/^[!#-[\]-~]+( [!#-[\]-~]+)*$/),
    allowed: 'scopes with spaces between, such as openid muster',
  },
  redisUrl: {
    name: 'REDIS_URL',
    fallback: null,
    schema: Joi.string().custom(storeUrl),
    allowed:
      'redis://user:password@host:port/database (percent-encode special characters of a password), rediss://host:port, unix:///path or the absolute path of a unix socket, a comma-separated list of nodes of one cluster, or redis+sentinel://user:password@host:port,host:port/master-name; leave it out to use the embedded Redis',
    secret: true,
  },
  allowEviction: {
    name: 'ALLOW_EVICTION',
    fallback: false,
    schema: Joi.boolean().sensitive(),
    allowed: 'true or false',
  },
  dataDir: { name: 'DATA_DIR', fallback: './data', schema: Joi.string(), allowed: 'the path of a folder' },
  logLevel: { name: 'LOG_LEVEL', fallback: 'info', ...oneOf(logLevels) },
  otelExporterOtlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: null,
    schema: Joi.string().custom(httpUrl),
    allowed: 'the http or https address of a receiver of OTLP over HTTP, such as http://localhost:4318',
    secret: true,
  },
  otelExporterOtlpProtocol: {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    fallback: 'http/protobuf',
    ...oneOf(['http/protobuf']),
  },
  traceUrl: {
    name: 'TRACE_URL',
    fallback: null,
    schema: Joi.string()
      .pattern(/\{traceId\}/)
      .custom(httpUrl),
    allowed: 'an http or https address with {traceId} in it, such as https://jaeger.example.com/trace/{traceId}',
  },
  webhookAllowPrivate: {
    name: 'WEBHOOK_ALLOW_PRIVATE',
    fallback: false,
    schema: Joi.boolean().sensitive(),
    allowed: 'true or false',
  },
  sealAfterSeconds: { name: 'SEAL_AFTER_SECONDS', fallback: 3600, ...wholeNumber(0, maxSealSeconds) },
  snapshotIntervalSeconds: {
    name: 'SNAPSHOT_INTERVAL_SECONDS',
    fallback: 3600,
    ...wholeNumber(0, maxSeconds),
  },
  snapshotKeep: { name: 'SNAPSHOT_KEEP', fallback: 24, ...wholeNumber(1, maxSnapshots) },
  redisServer: {
    name: 'REDIS_SERVER',
    fallback: null,
    schema: Joi.string(),
    allowed: 'the path of a redis-server program',
  },
  redisMaxmemory: {
    name: 'REDIS_MAXMEMORY',
    fallback: null,
    schema: Joi.string().pattern(/^[1-9]\d{0,6}(mb|gb)$/),
    allowed: 'a size in mb or gb, such as 512mb or 6gb',
  },
};

/**
 * Reads and validates all settings. An empty value counts as unset, since Compose passes unset variables on like that.
 *
 * @throws ConfigError for the first invalid setting
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config: Record<string, unknown> = {};
  for (const [key, { name, fallback, schema, allowed, secret }] of Object.entries(settings)) {
    const text = env[name]?.trim();
    if (text === undefined || text === '') {
      config[key] = fallback;
      continue;
    }
    const { value, error } = schema.validate(text);
    // JSON keeps any value on one line.
    const given = secret ? 'the given value' : JSON.stringify(text.slice(0, 80));
    if (error) throw new ConfigError(`${name}: ${given} cannot be used; it must be ${allowed}`);
    config[key] = value;
  }
  const { role, port, metricsPort, redisUrl } = config as unknown as Config;
  if (role !== 'all' && redisUrl === null)
    throw new ConfigError(
      `REDIS_URL is missing: with ROLE=${role} it must name the Redis that this process shares with the others; ` +
        'the embedded Redis belongs to one process, which does everything (ROLE=all)',
    );
  if (role !== 'worker' && port !== 0 && metricsPort === port)
    throw new ConfigError(
      `METRICS_PORT: "${port}" cannot be used; it must be a different port than PORT, or be left out`,
    );
  checkTokens(config as unknown as Config);
  return config as unknown as Config;
}

/** Checks token settings that require others. */
function checkTokens({ oidcIssuer, oidcAudience, oidcClientId, publicUrl }: Config): void {
  const needs = (given: unknown, name: string, needed: unknown, why: string): void => {
    if (given !== null && needed === null) throw new ConfigError(`${name} is missing: ${why}`);
  };
  needs(oidcIssuer, 'OIDC_AUDIENCE', oidcAudience, 'with OIDC_ISSUER it must say which tokens are for this server');
  needs(oidcIssuer, 'PUBLIC_URL', publicUrl, 'with OIDC_ISSUER it must be the address at which callers reach the API');
  needs(oidcAudience, 'OIDC_ISSUER', oidcIssuer, 'OIDC_AUDIENCE has no effect without it');
  needs(oidcClientId, 'OIDC_ISSUER', oidcIssuer, 'OIDC_CLIENT_ID has no effect without it');
}

/** The help: a line per setting with its name, its default and its allowed values. */
export function settingsHelp(): string {
  const lines = Object.values(settings).map(({ name, fallback, allowed }) => {
    const preset = fallback === null ? 'not set' : `default ${fallback}`;
    return `  ${name.padEnd(26)}${allowed} (${preset})`;
  });
  return lines.join('\n');
}

function between(from: number, to: number) {
  return (value: number): number => {
    if (value < from || value > to) throw new Error('out of range');
    return value;
  };
}

function httpUrl(text: string): string {
  if (!/^https?:$/.test(new URL(text).protocol)) throw new Error('not an address of the web');
  return text;
}

/**
 * Links append paths to it, so it must have no query. It must have no login either: everyone who sees a link would get
 * it.
 */
function publicUrl(text: string): string {
  const { protocol, username, password, host, pathname, href, origin } = new URL(text);
  const isPlain = username === '' && password === '' && !/[?#]/.test(text);
  if (!['http:', 'https:'].includes(protocol) || host === '' || !isPlain) throw new Error('not an address to build on');
  return pathname === '/' ? origin : href.replace(/\/+$/, '');
}

/** The origins as browsers spell them. */
function originList(text: string): readonly string[] {
  return text.split(',').map((one) => {
    const { origin, protocol, href } = new URL(one.trim());
    if (!['http:', 'https:'].includes(protocol) || href !== `${origin}/`) throw new Error('not an origin');
    return origin;
  });
}

/** Kept as written, because the `iss` of tokens must match this text exactly. */
function issuerUrl(text: string): string {
  const { username, password } = new URL(text);
  const isPlain = username === '' && password === '' && !/[?#]/.test(text);
  if (!isAuthentic(text) || !isPlain) throw new Error('not an issuer');
  return text;
}

function storeUrl(text: string): string {
  const addresses = addressesOf(text);
  for (const address of addresses) if (!isStore(address, addresses.length > 1)) throw new Error('not a store address');
  return text;
}

function isStore(address: string, isNode: boolean): boolean {
  if (address.startsWith('/')) return !isNode && address.length > 1;
  if (address.startsWith('redis+sentinel:')) return sentinelsOf(address) !== undefined;
  const { protocol, username, password, hostname, pathname, hash } = new URL(address);
  for (const part of [username, password]) decodeURIComponent(part);
  // A path that is not a database number comes from an unencoded password; the host is then wrong, too.
  const isDatabase = /^(\/\d*)?$/.test(pathname) && hash === '';
  return ['redis:', 'rediss:'].includes(protocol) && hostname !== '' && isDatabase;
}
