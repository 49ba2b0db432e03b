import Joi from 'joi';
import { text as textField } from '../../engine/declare/field.ts';
import { many, one } from '../../engine/declare/record.ts';
import { apiKeyDigest, type Permission, permissions } from '../../engine/route/caller.ts';
import { fields, id, integer, key, oneOf, optional, page, says, text } from '../../engine/route/fields.ts';
import { Cursors, pageReply, positions } from '../../engine/route/page.ts';
import { type Route, route } from '../../engine/route/route.ts';
import { keyArgs, newApiKey } from './api-key.ts';
import {
  maxHolderCharacters,
  maxKeyDays,
  maxMailboxesPerKey,
  maxNameCharacters,
  maxSpacesPerKey,
  oneSpaceRule,
} from './input.ts';
import { ApiKey, AuditEntry } from './records.ts';

/** A list of 1 to `max` distinct values. */
const listOf = <T>(item: Joi.AnySchema<T>, max: number, rule: string) =>
  Joi.array<readonly T[]>()
    .items(item)
    .min(1)
    .max(max)
    .unique()
    .error(says(`must be a list of 1 to ${max} ${rule}`));

const ids = (max: number) => listOf(id(), max, 'ids, each once');

const cursors = new Cursors('keys', positions.id);

const list = route({
  method: 'GET',
  path: '/keys',
  call: 'key.list',
  summary: 'The API keys with no more rights than the caller, newest first, with ended and revoked ones',
  description:
    'A key is shown if its permissions, spaces, mailboxes, holder and end lie within those of the API key. A page may be ' +
    'short, even empty: continue with `nextCursor` until it is null.',
  permission: 'key_admin',
  idempotency: 'never',
  rate: 'limits',
  query: fields(page()),
  success: { 200: pageReply('keys', ApiKey.schema) },
  refuses: ['INVALID_CURSOR'],
  script: 'org/visibleKeys',
  args: (input) => ({ limit: input.query.limit, cursor: cursors.read(input) }),
  reply: { nextCursor: textField().orNull(), keys: many(ApiKey) },
  answer: ({ nextCursor, keys }, input) => ({
    status: 200,
    body: { keys, nextCursor: cursors.next(input, nextCursor) },
  }),
});

const secret = textField()
  .orNull()
  .means('the key itself, which is shown now and never again; null in a replay')
  .example(`mk_acme_${'x'.repeat(43)}`);

const create = route({
  method: 'POST',
  path: '/keys',
  call: 'key.create',
  summary: 'Create an API key with no more rights than the caller; `apiKey` is shown only now',
  description:
    'Permissions, spaces, mailboxes, holder and end must lie within those of the API key, so a limit that it has must be ' +
    'given; only `holder` is then its own where it is left out. A replay has `apiKey` null: revoke that key, and create ' +
    'another one.',
  permission: 'key_admin',
  idempotency: 'optional',
  rate: 'limits',
  body: fields({
    name: optional(key(maxNameCharacters)).description('for people').example('worker'),
    permissions: listOf(
      oneOf<Permission>(...permissions),
      permissions.length,
      `of ${permissions.join(', ')}, each once`,
    ).description('its permissions; resource_config includes resource_spend, and no other includes another'),
    spaces: optional(ids(maxSpacesPerKey)).description('the spaces that it is limited to; by default every space'),
    mailboxes: optional(ids(maxMailboxesPerKey)).description(
      'the mailboxes, all of one space, that it is limited to; by default all',
    ),
    holder: optional(text(1, maxHolderCharacters))
      .description('the only name under which it acts; by default that of the API key, or any name if that has none')
      .example(null),
    expiresInDays: optional(integer(1, maxKeyDays)).description(
      'the days until it ends, counted from now; by default it never ends',
    ),
  })
    .custom((body: { spaces?: readonly string[]; mailboxes?: readonly string[] }, helpers) =>
      body.mailboxes && (body.spaces?.length ?? 0) > 1 ? helpers.error('spaces') : body,
    )
    .messages({ spaces: `spaces: ${oneSpaceRule}` }),
  success: { 201: ApiKey.with('CreatedApiKey', { apiKey: secret }).schema },
  refuses: ['SPACE_NOT_FOUND', 'MAILBOX_NOT_FOUND', 'ENTITLEMENT_EXCEEDED'],
  script: 'org/giveKey',
  args: ({ body: { name = '', permissions, spaces = [], mailboxes = [], holder = '', expiresInDays } }) => ({
    ...keyArgs({ name, permissions, spaces, mailboxes, holder, expiresInDays: expiresInDays ?? '' }),
    digest: '',
  }),
  reply: { apiKey: one(ApiKey) },
  // The key itself is only in the answer.
  serve: async (_input, { caller, execute }) => {
    const apiKey = newApiKey(caller.org);
    const { reply, replayed } = await execute({ digest: apiKeyDigest(apiKey) });
    return { status: 201, body: { ...reply?.apiKey, apiKey: replayed ? null : apiKey } };
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/keys/:keyId',
  call: 'key.revoke',
  summary: 'Revoke an API key: its next request is refused; repeating it changes nothing',
  description: 'A key with more rights than the caller counts as unknown.',
  permission: 'key_admin',
  idempotency: 'optional',
  rate: 'limits',
  success: { 204: null },
  refuses: ['KEY_NOT_FOUND'],
  script: 'org/withdrawKey',
  reply: {},
});

const auditCursors = new Cursors('audit', positions.entry);

const audit = route({
  method: 'GET',
  path: '/keys/:keyId/audit',
  call: 'key.audit',
  summary: 'What an API key changed, newest first, by the audit trail',
  description:
    'The keys, budgets, pools, allowances and destinations that it created or changed, and what it deleted, purged, requeued, ' +
    'paused, resumed, cancelled, released by force or answered. A page looks at 1,000 entries of the organization, so it may ' +
    'be short, even empty: continue with `nextCursor` until it is null.',
  permission: 'key_admin',
  idempotency: 'never',
  rate: 'limits',
  query: fields(page()),
  success: { 200: pageReply('entries', AuditEntry.schema) },
  refuses: ['KEY_NOT_FOUND', 'INVALID_CURSOR'],
  script: 'org/auditOfKey',
  args: (input) => ({ limit: input.query.limit, cursor: auditCursors.read(input) }),
  reply: { nextCursor: textField().orNull(), entries: many(AuditEntry) },
  answer: ({ nextCursor, entries }, input) => ({
    status: 200,
    body: { entries, nextCursor: auditCursors.next(input, nextCursor) },
  }),
});

/** API keys, managed by keys with the permission key_admin. */
export const keyRoutes: readonly Route[] = [list, create, revoke, audit];
