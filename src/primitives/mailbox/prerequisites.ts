import Joi from 'joi';
import { exampleId } from '../../engine/declare/field.ts';
import type { Get, Value } from '../../engine/declare/value.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, id, oneOf, optional, says } from '../../engine/route/fields.ts';

/** What happens to a message when a prerequisite does not succeed. */
export const policies = ['CANCEL', 'WAIT', 'RUN'] as const;

/** A prerequisite as a request names it. */
interface Named {
  readonly messageId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly scopeId?: string | undefined;
}

export interface Prerequisites {
  readonly after?: readonly Named[] | undefined;
  readonly onFailure?: string | undefined;
}

/** A list of messages, groups and scopes. well: what has to become of each, for its description. */
export const listOfAwaited = (well: { message: string; group: string; scope: string; idle: string }) =>
  Joi.array<Named[]>()
    .items(
      fields({
        messageId: optional(id())
          .description(`a message that must ${well.message}; give this, groupId or scopeId`)
          .meta({ model: `must ${well.message}; or groupId, or scopeId` }),
        groupId: optional(id())
          .description(`a task group that must ${well.group}; give this, messageId or scopeId`)
          .meta({ model: `must ${well.group}` }),
        scopeId: optional(id())
          .description(`a scope that must ${well.scope}; give this, messageId or groupId`)
          .meta({ model: `must ${well.idle}` }),
      }),
    )
    .max(50)
    .error(says('must be a list of at most 50 objects like {"messageId":"…"}, {"groupId":"…"} or {"scopeId":"…"}'));

/** The fields of send and submit that make a message wait for others. */
export const whatItIsAfter = {
  after: optional(
    listOfAwaited({
      message: 'be ACKED',
      group: 'be SATISFIED',
      scope: 'have nothing live in it and below, and not be cancelled',
      idle: 'be idle',
    })
      .description(
        'the messages, groups and scopes that must succeed before this message may be received; until then it is BLOCKED',
      )
      .meta({ model: 'must succeed before this one may be received' })
      .example([{ messageId: exampleId('messageId') }]),
  ),
  onFailure: optional(oneOf(...policies))
    .description(
      'what happens if one of them does not succeed: with CANCEL, the default, this message is cancelled, too; with WAIT it stays BLOCKED until that message has been requeued and ACKED (for a group or a scope WAIT means CANCEL); with RUN it may be received after any end. Only with `after`',
    )
    .meta({ model: 'if one fails: CANCEL this too (default), WAIT for a requeue, or RUN anyway' }),
};

/** `m`, `g` or `s` and the id of each, as scripts take them. */
export function awaitedTexts(after: readonly Named[]): readonly string[] {
  const texts = after.map(({ messageId, groupId, scopeId }, index) => {
    const named = [messageId, groupId, scopeId].filter((one) => one !== undefined);
    if (named.length !== 1) throw invalid(`after[${index}] must have either messageId, groupId or scopeId`);
    return `${messageId !== undefined ? 'm' : groupId !== undefined ? 'g' : 's'}${named[0]}`;
  });
  const twice = texts.findIndex((text, index) => texts.indexOf(text) < index);
  if (twice !== -1) throw invalid(`after[${twice}] repeats an id`);
  return texts;
}

/** The script's argument: the policy, then `m`, `g` or `s` and the id of each; '' for none. */
export function prerequisitesText({ after, onFailure }: Prerequisites): string {
  if (after === undefined && onFailure !== undefined) throw invalid('onFailure may only be sent with after');
  // A program that gathers them may have found none.
  if (after === undefined || after.length === 0) return '';
  return [onFailure ?? 'CANCEL', ...awaitedTexts(after)].join(' ');
}

const kinds = { m: 'MESSAGE', g: 'GROUP', s: 'SCOPE', n: 'NOTE' } as const;

interface Awaited {
  readonly kind: keyof typeof kinds;
  readonly id: string;
  readonly state: string | null;
  readonly isOpen: boolean;
}

const textOf = (value: Value): string => (value === null ? '' : String(value));

/** Parses stored conditions (lua/mailbox/_prerequisite.lua, lua/mailbox/_suspension.lua). */
function read(text: string): Awaited[] {
  const entries = [...text.matchAll(/(?:^| )([mgsn])([^ #=~]{36})(?:#\d+)?(?:([=~])(\w+))?(?= |$)/g)];
  return entries.map(([, kind, id = '', sign, state = null]) => {
    return { kind: kind as keyof typeof kinds, id, state, isOpen: sign !== '=' };
  });
}

/** A row of each message, group and scope. */
const rowsOf = (text: string): Value =>
  read(text)
    .filter(({ kind }) => kind !== 'n')
    .map(({ kind, id, state }): Value => [...['m', 'g', 's'].map((one) => (one === kind ? id : null)), state]);

export const afterOf = (get: Get): Value => rowsOf(textOf(get('prerequisites')));

/** The last suspension of a message, as it is stored. */
function suspended(get: Get) {
  const [since, until, timeoutAt, which, , sleeping, wokenBy] = textOf(get('suspended')).split(' ');
  if (!since) return undefined;
  return { since, until, timeoutAt, isAny: which === 'any', isSleeping: sleeping === 'SLEEPING', wokenBy };
}

const unless = (value: string | undefined): Value => (value === undefined || value === '-' ? null : value);

export const suspensionOf = (get: Get): Value => {
  const found = suspended(get);
  if (!found) return null;
  const awaited = textOf(get('awaited'));
  const noteScopeId = read(awaited).find(({ kind }) => kind === 'n')?.id;
  const [, version = '', key = ''] = /^(\d+) (.*)$/s.exec(textOf(get('awaitedNote'))) ?? [];
  const note = noteScopeId === undefined ? null : [noteScopeId, key, version];
  return [
    ...[found.since, rowsOf(awaited), note, unless(found.until)],
    ...[unless(found.timeoutAt), found.isAny ? '1' : '', unless(found.wokenBy)],
  ];
};

/** The values that `blockedByOf` needs. */
export const blockerUses = ['prerequisites', 'state', 'keyHolder', 'blockedOn', 'suspended', 'awaited'] as const;

/** The reasons in the order in which they block: prerequisites, then the key, then units, a question or a suspension. */
export const blockedByOf = (get: Get): Value => {
  if (get('state') !== 'BLOCKED') return [];
  const resource = textOf(get('blockedOn'));
  const isSuspended = resource === 'SUSPENSION';
  if (resource !== '' && !isSuspended) return [resource.split(' ')];
  const open = read(textOf(get(isSuspended ? 'awaited' : 'prerequisites')))
    .filter(({ isOpen }) => isOpen)
    .map(({ kind, id }): Value => [kinds[kind], id]);
  if (isSuspended) return suspended(get)?.isSleeping ? [...open, ['TIME', null]] : open;
  return open.length === 0 ? [['KEY', get('keyHolder')]] : open;
};
