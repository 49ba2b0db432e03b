import { hash } from 'node:crypto';
import Joi from 'joi';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { type Caller, grantedCaller, permissions } from '../../engine/route/caller.ts';
import { id, text } from '../../engine/route/fields.ts';
import { type Issuer, TokenRefused } from './issuer.ts';

/** Only signatures by a key pair: with HS…, a server that can check a token can also make one. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Header parameters with which a token would name its own key. */
const keyParameters = ['jwk', 'jku', 'x5u'];
/** Only API keys may manage API keys. */
const withheld = 'key_admin';
/** How far the clocks of the issuer and of this machine may differ. */
const toleranceSeconds = 60;
/** Later ends, in seconds, are cut to this, so that milliseconds are written without an exponent. */
const latestEnd = 1e11;

interface Claim {
  readonly org: string;
  readonly permissions: readonly string[];
  readonly spaces?: readonly string[] | null;
}

const claimSchema = Joi.object<Claim>({
  org: Joi.string()
    .pattern(/^[a-z0-9-]{3,40}$/)
    .required(),
  permissions: Joi.array().items(Joi.string().allow('')).required(),
  spaces: Joi.array().items(id()).allow(null),
})
  .unknown()
  .required();
const subjectSchema = text(1, 256).optional();

/** Checking a signature costs four times as much as the rest of a send, and callers use one token until it ends. */
const maxKnown = 1_000;

/** The required values of a token. */
interface Rules {
  readonly issuer: Pick<Issuer, 'name' | 'keyOf' | 'keys'>;
  readonly audience: string;
  /** The name of the claim with organization, permissions and spaces. */
  readonly claim: string;
}

export class Tokens {
  readonly #rules: Rules;
  /**
   * Callers by the digests of their tokens, each with the issuer's keys at the time. The script checks whether a token
   * has expired.
   */
  readonly #known = new Map<string, { readonly caller: Caller; readonly keys: object | undefined }>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** The caller with a token. resource: another audience that this request accepts. Throws TokenRefused. */
  async callerOf(token: string, resource = ''): Promise<Caller> {
    const { issuer } = this.#rules;
    const digest = hash('sha256', `${resource} ${token}`, 'base64url');
    const known = this.#known.get(digest);
    const { keys } = issuer;
    if (known?.keys !== undefined && known.keys === keys) return known.caller;
    const caller = await this.#judge(token, resource);
    this.#known.delete(digest);
    // If there were no keys before, this token's check has fetched them.
    this.#known.set(digest, { caller, keys: keys ?? issuer.keys });
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size > maxKnown) this.#known.delete(oldest);
    return caller;
  }

  async #judge(token: string, resource: string): Promise<Caller> {
    const { issuer, audience, claim } = this.#rules;
    // Don't load it before somebody sends a token.
    const { decodeJwt, jwtVerify } = await import('jose');
    try {
      // Checked before the signature: a token of another issuer must not cause a fetch of keys.
      if (decodeJwt(token).iss !== issuer.name) throw new TokenRefused('iss');
      const { payload } = await jwtVerify(token, this.#keyOf, {
        issuer: issuer.name,
        audience: resource === '' ? audience : [audience, resource],
        algorithms,
        clockTolerance: toleranceSeconds,
        requiredClaims: ['exp'],
      });
      return callerIn(payload, claim);
    } catch (error) {
      throw error instanceof TokenRefused ? error : new TokenRefused(reasonOf(error));
    }
  }

  readonly #keyOf: JWTVerifyGetKey = (header, token) => {
    const parameter = keyParameters.find((name) => name in header);
    if (parameter !== undefined) throw new TokenRefused(parameter);
    return this.#rules.issuer.keyOf(header, token);
  };
}

/** jose's code and the claim concerned. Its messages are not used, as they may quote the token. */
function reasonOf(error: unknown): string {
  const { code = 'ERR_KEY', claim = '' } = error as { code?: string; claim?: string };
  return `${code} ${claim}`.trim();
}

function callerIn(payload: JWTPayload, name: string): Caller {
  const { value, error } = claimSchema.validate(readClaim(payload[name]), { convert: false });
  if (error || !value) throw new TokenRefused(`claim ${name}`);
  const subject = subjectSchema.validate(payload.sub ?? payload['client_id'] ?? payload['azp']);
  if (subject.error) throw new TokenRefused('sub');
  return grantedCaller(value.org, {
    permissions: permissions.filter((one: string) => one !== withheld && value.permissions.includes(one)),
    spaces: value.spaces ?? undefined,
    endsAt: (Math.min(Math.floor(payload.exp ?? 0), latestEnd) + toleranceSeconds) * 1000,
    issuer: payload.iss ?? '',
    subject: subject.value ?? '',
  });
}

/** Some issuers (Entra) cannot put objects into claims and send JSON text instead. */
function readClaim(claim: unknown): unknown {
  if (typeof claim !== 'string') return claim;
  try {
    return JSON.parse(claim);
  } catch {
    return undefined;
  }
}
