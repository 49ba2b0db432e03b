import type { Logger } from 'pino';
import type { Step } from '../http/context.ts';
import { identify } from './identify.ts';
import { Issuer } from './issuer.ts';
import { resourceMetadata } from './resource.ts';
import { Tokens } from './tokens.ts';

/** The OpenID provider, and which of its tokens are accepted. */
export interface OidcOptions {
  readonly issuer: string;
  /** The `aud` of tokens for this server. */
  readonly audience: string;
  /** The name of the claim with organization, permissions and spaces. */
  readonly claim: string;
  /** The console's client id at the provider; null if people sign in by API key only. */
  readonly clientId: string | null;
  /** The scopes that the console and MCP clients request. */
  readonly scope: string;
}

/** The page that signs people in, made for a provider and its client id. */
export type SignInPage = (
  signIn: Pick<OidcOptions, 'issuer' | 'audience' | 'scope'> & {
    readonly clientId: string;
    readonly publicUrl: string;
    /** The issuer's endpoints; undefined if they cannot be fetched now. */
    readonly endpoints: () => ReturnType<Issuer['endpoints']>;
  },
) => Step;

/** The parts of tokens that the HTTP server uses. */
export interface Oidc {
  readonly identify: Step;
  /** Whether people sign in to the console. */
  readonly hasAccounts: boolean;
  readonly sites: readonly { readonly pages: Step }[];
}

/** Prepares to accept tokens. The provider is not contacted before the first one. */
export function openOidc(options: OidcOptions, publicUrl: string, signInPage: SignInPage, log: Logger): Oidc {
  const { clientId, ...rest } = options;
  const issuer = new Issuer(rest.issuer, log);
  const steps = [resourceMetadata({ ...rest, publicUrl })];
  if (clientId !== null) steps.push(signInPage({ ...rest, clientId, publicUrl, endpoints: () => issuer.endpoints() }));
  return {
    identify: identify(new Tokens({ ...rest, issuer }), publicUrl),
    hasAccounts: clientId !== null,
    sites: steps.map((pages) => ({ pages })),
  };
}
