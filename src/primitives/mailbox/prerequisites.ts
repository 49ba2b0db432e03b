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
}

export interface Prerequisites {
  readonly after?: readonly Named[] | undefined;
  readonly onFailure?: string | undefined;
}

/** The fields of send and submit that make a message wait for others. */
export const whatItIsAfter = {
  after: optional(
    Joi.array<Named[]>()
      .items(
        fields({
          messageId: optional(id())
            .description('a message that must be ACKED; give either this or groupId')
            .meta({ model: 'must be ACKED; or groupId' }),
          groupId: optional(id())
            .description('a task group that must be SATISFIED; give either this or messageId')
            .meta({ model: 'must be SATISFIED' }),
        }),
      )
      .max(50)
      .description(
        'the messages and groups that must succeed before this message may be received; until then it is BLOCKED',
      )
      .meta({ model: 'must succeed before this one may be received' })
      .example([{ messageId: exampleId('messageId') }])
      .error(says('must be a list of at most 50 objects like {"messageId":"…"} or {"groupId":"…"}')),
  ),
  onFailure: optional(oneOf(...policies))
    .description(
      'what happens if one of them does not succeed: with CANCEL, the default, this message is cancelled, too; with WAIT it stays BLOCKED until that message has been requeued and ACKED (for a group WAIT means CANCEL); with RUN it may be received after any end. Only with `after`',
    )
    .meta({ model: 'if one fails: CANCEL this too (default), WAIT for a requeue, or RUN anyway' }),
};

/** The script's argument: the policy, then `m` or `g` and the id of each; '' for none. */
export function prerequisitesText({ after, onFailure }: Prerequisites): string {
  if (after === undefined && onFailure !== undefined) throw invalid('onFailure may only be sent with after');
  // A program that gathers them may have found none.
  if (after === undefined || after.length === 0) return '';
  const texts = after.map(({ messageId, groupId }, index) => {
    if ((messageId === undefined) === (groupId === undefined))
      throw invalid(`after[${index}] must have either messageId or groupId`);
    return messageId === undefined ? `g${groupId}` : `m${messageId}`;
  });
  const twice = texts.findIndex((text, index) => texts.indexOf(text) < index);
  if (twice !== -1) throw invalid(`after[${twice}] repeats an id`);
  return [onFailure ?? 'CANCEL', ...texts].join(' ');
}

interface Prerequisite {
  readonly isGroup: boolean;
  readonly id: string;
  readonly state: string | null;
  readonly isOpen: boolean;
}

/** Parses a message's stored `prerequisites` (lua/mailbox/_prerequisite.lua). */
function read(get: Get): Prerequisite[] {
  const text = get('prerequisites');
  if (text === null || text === '') return [];
  const [, ...entries] = String(text).split(' ');
  return entries.map((entry) => {
    const [, kind, id = '', sign, state = null] = /^([mg])(.{36})(?:#\d+)?(?:([=~])(\w+))?$/.exec(entry) ?? [];
    return { isGroup: kind === 'g', id, state, isOpen: sign !== '=' };
  });
}

export const afterOf = (get: Get): Value =>
  read(get).map(({ isGroup, id, state }): Value => [isGroup ? null : id, isGroup ? id : null, state]);

/** The reasons in the order in which they block: prerequisites, then the key, then units or a question. */
export const blockedByOf = (get: Get): Value => {
  if (get('state') !== 'BLOCKED') return [];
  const resource = get('blockedOn');
  if (resource !== null && resource !== '') return [String(resource).split(' ')];
  const open = read(get).filter(({ isOpen }) => isOpen);
  if (open.length === 0) return [['KEY', get('keyHolder')]];
  return open.map(({ isGroup, id }): Value => [isGroup ? 'GROUP' : 'MESSAGE', id]);
};
