import { randomInt } from 'node:crypto';
import { type Args, randomTail } from '../../engine/route/args.ts';
import type { Grant } from '../../engine/route/caller.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 characters hold 256 bits. */
const secretCharacters = 43;

/**
 * A new API key, `mk_<org>_<43 random base62 characters>`. An organization's id has no `_`, so the key identifies its
 * organization.
 */
export function newApiKey(org: string): string {
  // randomInt has no modulo bias.
  const secret = Array.from({ length: secretCharacters }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `mk_${org}_${secret}`;
}

/** A key to be created. '' means: no name, any holder, no end. */
interface Wanted extends Pick<Grant, 'permissions' | 'spaces' | 'mailboxes'> {
  readonly name: string;
  readonly holder: string;
  readonly expiresInDays: number | '';
}

/** The arguments of a script that creates a key, without its digest; with the detail for the audit trail. */
export function keyArgs({ name, permissions, spaces, mailboxes, holder, expiresInDays }: Wanted): Args {
  const limits = {
    ...(mailboxes.length > 0 && { mailboxes }),
    ...(holder !== '' && { holder }),
    ...(expiresInDays !== '' && { expiresInDays }),
  };
  return {
    ...{ name, holder, expiresInDays },
    permissions: permissions.join(),
    spaces: spaces.join(),
    mailboxes: mailboxes.join(),
    tail: randomTail(),
    detail: JSON.stringify({ permissions, spaces, ...limits, name: name === '' ? null : name }),
  };
}
