import { randomUUID } from 'node:crypto';
import { CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { InvalidInput } from '../org/input.ts';
import { OtherFormat } from '../redis/format.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import { SnapshotFailure } from '../snapshot/failure.ts';

/** What a refusal of the operator's scripts means, given the script's detail and the organization's plan words. */
const sentences: Record<string, (detail: string) => string> = {
  ORG_EXISTS: () => 'an organization of this name exists already: choose another name, or see it with org show',
  ORG_NOT_FOUND: () => 'there is no such organization: org list shows those that are, org create makes one',
  SPACE_NOT_FOUND: (spaceId) => `the organization has no space ${spaceId}: space list shows those it has`,
  KEY_NOT_FOUND: (keyId) => `the organization has no key ${keyId}: key list shows those it has`,
  VALIDATION_FAILED: (detail) => detail,
  ENTITLEMENT_EXCEEDED: (detail) => {
    const [what, plan, limit] = detail.split(' ');
    if (limit === undefined) return `${what} must not exceed the plan's ${plan}`;
    const ways =
      what === 'keys' ? 'revoke a key, or change the plan with org set-plan' : 'change the plan with org set-plan';
    return `the ${plan} plan allows ${limit} ${what}, and all are in use: ${ways}`;
  },
};

/** The API's error envelope for anything that a command may fail with (contract section 1). */
export function envelope(error: unknown): string {
  const { code, message } = explain(error);
  return JSON.stringify({ error: { code, message, requestId: randomUUID() } });
}

function explain(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CommanderError) return { code: 'VALIDATION_FAILED', message: usage(error) };
  if (error instanceof InvalidInput) return { code: error.code, message };
  if (error instanceof SnapshotFailure) return { code: error.code, message };
  if (error instanceof ConfigError) return { code: 'VALIDATION_FAILED', message };
  if (error instanceof StoreUnavailable || error instanceof OtherFormat) return { code: 'STORE_UNAVAILABLE', message };
  if (error instanceof Refusal && sentences[error.code]) {
    return { code: error.code, message: sentences[error.code]?.(error.detail) ?? '' };
  }
  return { code: 'INTERNAL', message: `an unexpected error: ${message}` };
}

/** Commander says what was wrong, over one or two lines; where to look it up is left to us. */
function usage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'the command is not complete: --help lists what can follow';
  const text = error.message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  return `${text}; --help shows how`;
}
