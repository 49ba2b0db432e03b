import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';
import { isAuthentic } from './address.ts';

/** Older keys are fetched again, so that a key withdrawn by the issuer is refused soon. */
const freshMs = 600_000;
/** How long the last keys are used while the issuer is unreachable. */
const maxAgeMs = 3_600_000;
/** Anyone can make a token that names an unknown key, so such tokens fetch the keys at most once in this time. */
const pauseMs = 30_000;
/** A slower issuer counts as unreachable. */
const timeoutMs = 5_000;

/** Where people sign in and where a client gets its token. */
export interface Endpoints {
  readonly authorization: string;
  readonly token: string;
}

interface Known {
  readonly keyOf: JWTVerifyGetKey;
  readonly endpoints: Endpoints | undefined;
  readonly fetchedAt: number;
}

/** A refused token. The message says why without quoting the token, for the log. */
export class TokenRefused extends Error {}

/** The OpenID provider whose tokens are accepted. Nothing is fetched before the first token. */
export class Issuer {
  readonly name: string;
  readonly #log: Logger;
  readonly #now: () => number;
  #known: Known | undefined;
  #fetching: Promise<boolean> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** name: the `iss` of its tokens; its discovery document is below that. now: tests pass their own. */
  constructor(name: string, log: Logger, now: () => number = () => performance.now()) {
    this.name = name;
    this.#log = log;
    this.#now = now;
  }

  /** Finds the key of a token. Throws TokenRefused, or an error of jose. */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const known = this.#current();
    try {
      if (known) return await known.keyOf(header, token);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
    }
    const isFetched = await this.#fetch();
    if (!isFetched || !this.#known)
      throw new TokenRefused(known ? 'unknown key' : 'the keys of the issuer cannot be fetched');
    const key = await this.#known.keyOf(header, token);
    // This first fetch was not caused by an unknown key, so it does not start the pause: a rotation right after it is
    // noticed at once.
    if (!known) this.#triedAt = Number.NEGATIVE_INFINITY;
    return key;
  };

  /** An object that stays the same until keys are fetched again; undefined if there are no keys to use. */
  get keys(): object | undefined {
    return this.#current();
  }

  /** The endpoints for signing in; undefined if they are unknown or not trustworthy. */
  async endpoints(): Promise<Endpoints | undefined> {
    if (!this.#current()) await this.#fetch();
    return this.#current()?.endpoints;
  }

  /** The last keys and endpoints, unless they are too old. Refreshes them without waiting. */
  #current(): Known | undefined {
    const known = this.#known;
    if (!known) return undefined;
    const ageMs = this.#now() - known.fetchedAt;
    if (ageMs >= freshMs) void this.#fetch();
    return ageMs < maxAgeMs ? known : undefined;
  }

  /** Fetches the keys. Resolves with whether there are new ones. */
  #fetch(): Promise<boolean> {
    if (this.#fetching) return this.#fetching;
    const now = this.#now();
    if (now - this.#triedAt < pauseMs) return Promise.resolve(false);
    this.#triedAt = now;
    this.#fetching = read(this.name)
      .then(
        (found) => {
          this.#known = { ...found, fetchedAt: now };
          return true;
        },
        (error: Error) => {
          this.#log.warn({ error: error.message }, 'cannot fetch the keys of OIDC_ISSUER');
          return false;
        },
      )
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }
}

/** Reads the discovery document and the keys. */
async function read(issuer: string): Promise<Omit<Known, 'fetchedAt'>> {
  const signal = AbortSignal.timeout(timeoutMs);
  const found = await jsonAt(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal);
  // Otherwise one issuer could speak for another (OpenID Connect Discovery, 4.3).
  if (found['issuer'] !== issuer) throw new Error('its discovery document is of another issuer');
  const keys = await jsonAt(addressIn(found, 'jwks_uri'), signal);
  const endpoints = () => ({
    authorization: addressIn(found, 'authorization_endpoint'),
    token: addressIn(found, 'token_endpoint'),
  });
  // Loaded with the first token.
  const { createLocalJWKSet } = await import('jose');
  return { keyOf: createLocalJWKSet(keys as unknown as JSONWebKeySet), endpoints: unlessMissing(endpoints) };
}

type Json = Readonly<Record<string, unknown>>;

async function jsonAt(address: string, signal: AbortSignal): Promise<Json> {
  const path = new URL(address).pathname;
  const answer = await fetch(address, { signal, redirect: 'error', headers: { Accept: 'application/json' } }).catch(
    (error: Error) => {
      throw new Error(`${path}: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    },
  );
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  const json: unknown = await answer.json().catch(() => undefined);
  if (typeof json !== 'object' || json === null) throw new Error(`${path}: not a JSON object`);
  return json as Json;
}

function addressIn(document: Json, member: string): string {
  const address = document[member];
  if (typeof address === 'string' && isAuthentic(address)) return address;
  throw new Error(`its ${member} is not https, nor http on a loopback address`);
}

/** Only the console needs the endpoints. */
function unlessMissing<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
