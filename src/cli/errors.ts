import { randomUUID } from 'node:crypto';
import { CommanderError } from 'commander';
import { MusterError } from '../clients/typescript/index.ts';
import { ConfigError } from '../config.ts';
import { OtherFormat } from '../engine/redis/format.ts';
import { Refusal, StoreUnavailable } from '../engine/redis/scripts.ts';
import { ApiError } from '../engine/route/errors.ts';
import { SnapshotFailure } from '../jobs/snapshot/failure.ts';
import { escaped, visible } from '../pages/text/visible.ts';
import { InvalidInput } from '../primitives/org/input.ts';
import { ImportIncomplete } from './incomplete.ts';

/** Messages for refusals of the operator's scripts, given the script's detail. */
const messages: Record<string, (detail: string) => string> = {
  ORG_EXISTS: () => 'an organization with this name already exists: choose another name, or see it with org show',
  ORG_NOT_FOUND: () => 'there is no such organization: org list shows all of them, org create adds one',
  SPACE_NOT_FOUND: (spaceId) => `the organization has no space ${spaceId}: space list shows its spaces`,
  MAILBOX_NOT_FOUND: () => 'mailboxes: no space of the organization has all of them: name its space with --spaces',
  KEY_ENDED: (keyId) => `the key ${keyId} has ended or was revoked: create another one with key create`,
  KEY_NOT_FOUND: (keyId) => `the organization has no key ${keyId}: key list shows its keys`,
  CURSOR_EXPIRED: () => 'the journal was restored, or its oldest events have gone, while it was printed: start again',
  VALIDATION_FAILED: (detail) => detail,
  ENTITLEMENT_EXCEEDED: (detail) => {
    const [what, plan, limit] = detail.split(' ');
    if (limit === undefined) return `${what} must not exceed the plan's ${plan}`;
    const ways =
      what === 'keys' ? 'revoke a key, or change the plan with org set-plan' : 'change the plan with org set-plan';
    return `the ${plan} plan allows ${limit} ${what}, and all are in use: ${ways}`;
  },
};

/** The API's error envelope, for any failure of a command. */
export function envelope(error: unknown): string {
  const { code, message } = explain(error);
  return JSON.stringify({ error: { code, message, requestId: randomUUID() } });
}

/** An error's envelope as it is printed: a sentence on a terminal, otherwise the envelope. */
export function said(
  envelope: string,
  { isTTY, isJson }: { readonly isTTY: boolean; readonly isJson: boolean },
): string {
  if (!isTTY) return envelope;
  if (isJson) return escaped(envelope);
  const { code, message } = (JSON.parse(envelope) as { error: { code: string; message: string } }).error;
  return `muster: ${visible(message)} (${code})`;
}

function explain(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CommanderError) return { code: 'VALIDATION_FAILED', message: usage(error) };
  if (error instanceof MusterError) return { code: error.code, message };
  if (error instanceof ApiError) return { code: error.code, message };
  if (error instanceof InvalidInput) return { code: error.code, message };
  if (error instanceof ImportIncomplete) return { code: error.code, message };
  if (error instanceof SnapshotFailure) return { code: error.code, message };
  if (error instanceof ConfigError) return { code: 'VALIDATION_FAILED', message };
  if (error instanceof StoreUnavailable || error instanceof OtherFormat) return { code: 'STORE_UNAVAILABLE', message };
  if (error instanceof Refusal && messages[error.code]) {
    return { code: error.code, message: messages[error.code]?.(error.detail) ?? '' };
  }
  return { code: 'INTERNAL', message: `unexpected error: ${message}` };
}

/** Commander's message on one line, with a hint where to look it up. */
function usage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'incomplete command: --help lists the subcommands';
  const text = error.message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  return `${text}; see --help`;
}
