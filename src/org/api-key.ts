import { randomInt } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 characters have 256 bits. */
const secretCharacters = 43;

/**
 * A new API key, `mk_<org>_<43 random base62 characters>`. An organization's id has no `_`, so the key identifies its
 * organization.
 */
export function newApiKey(org: string): string {
  // randomInt draws without the bias that a remainder of a random byte would have.
  const secret = Array.from({ length: secretCharacters }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `mk_${org}_${secret}`;
}
