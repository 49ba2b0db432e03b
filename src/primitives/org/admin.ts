import { randomBytes } from 'node:crypto';
import { text } from '../../engine/declare/field.ts';
import { many, one } from '../../engine/declare/record.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { orUnavailable, unless } from '../../engine/redis/failures.ts';
import { listOrganization, organizationNames } from '../../engine/redis/organizations.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { randomTail } from '../../engine/route/args.ts';
import { apiKeyDigest } from '../../engine/route/caller.ts';
import type { Limits } from '../room.ts';
import { type LimitValues, limitsAt, limitsText } from '../space/limits.ts';
import { spacesOf } from '../space/list.ts';
import { Space } from '../space/records.ts';
import { keyArgs, newApiKey } from './api-key.ts';
import {
  checkAuditCursor,
  checkAuditLimit,
  checkDays,
  checkHolder,
  checkMailboxes,
  checkName,
  checkOrg,
  checkOverlap,
  checkPermissions,
  checkSpaces,
  checkUuid,
} from './input.ts';
import { type FigureName, figuresOf } from './plans.ts';
import { ApiKey, AuditEntry, Organization } from './records.ts';

/**
 * Operations on organizations, spaces and keys, for operators. Every function rejects with InvalidInput for invalid input,
 * with Refusal (ORG_NOT_FOUND, …) if the state of the store forbids it, and with StoreUnavailable.
 */
export interface Admin {
  store: Store;
  scripts: Scripts;
  /** of all rooms */
  limits: Limits;
}

const scripts = {
  create: { script: 'org/create', reply: {} },
  setPlan: { script: 'org/setPlan', reply: {} },
  show: { script: 'org/show', reply: { organization: one(Organization) } },
  createSpace: { script: 'space/create', reply: { space: one(Space) } },
  createKey: { script: 'org/createKey', reply: { apiKey: one(ApiKey) } },
  rotateKey: { script: 'org/rotateKey', reply: { apiKey: one(ApiKey), replaced: one(ApiKey) } },
  listKeys: { script: 'org/listKeys', reply: { nextCursor: text().orNull(), keys: many(ApiKey) } },
  revokeKey: { script: 'org/revokeKey', reply: { apiKey: one(ApiKey) } },
  audit: { script: 'org/audit', reply: { nextCursor: text().orNull(), entries: many(AuditEntry) } },
};

const keysPerPage = 200;

export type AdminAnswer<R> = R & { readonly org: string };
export type OrganizationAnswer = AdminAnswer<typeof Organization.type>;
type SpaceAnswer = AdminAnswer<typeof Space.type>;
type KeyAnswer = AdminAnswer<Omit<typeof ApiKey.type, 'id'>>;

const spaceOf = (org: string, { spaceId, ...space }: typeof Space.type): SpaceAnswer => ({ spaceId, org, ...space });
const keyOf = (org: string, { id: _id, keyId, ...key }: typeof ApiKey.type): KeyAnswer => ({ keyId, org, ...key });

export interface PlanChoice {
  org: string;
  plan: string;
  /** Figures of an enterprise plan, as typed. */
  figures?: Partial<Record<FigureName, string>>;
}

/** Throws Refusal: ORG_EXISTS. */
export async function createOrganization(admin: Admin, choice: PlanChoice): Promise<OrganizationAnswer> {
  const args = planArgs(choice);
  await orUnavailable(listOrganization(admin.store, choice.org));
  await admin.scripts.ask(scripts.create, choice.org, { ...args, epoch: randomBytes(8).toString('hex') });
  return showOrganization(admin, choice.org);
}

/** Throws Refusal: ORG_NOT_FOUND. */
export async function showOrganization(admin: Admin, org: string): Promise<OrganizationAnswer> {
  const { organization } = await admin.scripts.ask(scripts.show, checkOrg(org), {});
  return { org, ...organization };
}

/** All organizations, by name. */
export async function listOrganizations(admin: Admin): Promise<OrganizationAnswer[]> {
  const names = await orUnavailable(organizationNames(admin.store));
  const organizations: OrganizationAnswer[] = [];
  for (const org of [...names].sort()) {
    const found = await showOrganization(admin, org).catch(unless('ORG_NOT_FOUND'));
    if (found) organizations.push(found);
  }
  return organizations;
}

/** Keeps existing use above the new figures. Throws Refusal: ORG_NOT_FOUND. */
export async function setPlan(admin: Admin, choice: PlanChoice): Promise<OrganizationAnswer> {
  await admin.scripts.ask(scripts.setPlan, choice.org, planArgs(choice));
  return showOrganization(admin, choice.org);
}

interface NewSpace {
  org: string;
  name?: string;
  /** Only those that differ from the defaults. */
  limits?: LimitValues;
  /** Returns the oldest space instead if there is one. */
  first?: boolean;
}

/** Throws Refusal: ORG_NOT_FOUND, ENTITLEMENT_EXCEEDED. */
export async function createSpace(admin: Admin, options: NewSpace): Promise<SpaceAnswer> {
  const org = checkOrg(options.org);
  const { space } = await admin.scripts.ask(scripts.createSpace, org, {
    spaceId: '',
    requestId: '',
    name: checkName(options.name),
    limitValues: limitsText({ ...limitsAt(admin.limits, 'default'), ...options.limits }),
    tail: randomTail(),
    first: options.first ? '1' : '',
    detail: JSON.stringify({ name: options.name ?? null }),
  });
  return spaceOf(org, space);
}

/** All spaces, oldest first. Throws Refusal: ORG_NOT_FOUND. */
export async function listSpaces(admin: Admin, org: string): Promise<SpaceAnswer[]> {
  const spaces: SpaceAnswer[] = [];
  for await (const space of spacesOf(admin.scripts, checkOrg(org))) spaces.push(spaceOf(org, space));
  return spaces;
}

export interface NewKey {
  org: string;
  permissions: readonly string[];
  /** By default every space, including later ones. */
  spaces?: readonly string[];
  /** All in one space. By default every mailbox. */
  mailboxes?: readonly string[];
  /** The only name that callers with this key may act under. By default any. */
  holder?: string;
  /** By default the key does not expire. */
  expiresInDays?: number;
  name?: string;
  /** Throws KEY_EXISTS if the organization ever had a key. */
  first?: boolean;
}

type CreatedKey = KeyAnswer & { apiKey: string };

/**
 * Returns the key itself, this one time: only its digest is stored. Throws Refusal: ORG_NOT_FOUND, SPACE_NOT_FOUND,
 * MAILBOX_NOT_FOUND, ENTITLEMENT_EXCEEDED.
 */
export async function createKey(admin: Admin, key: NewKey): Promise<CreatedKey> {
  const org = checkOrg(key.org);
  const apiKey = newApiKey(org);
  const spaces = checkSpaces(key.spaces);
  const created = await admin.scripts.ask(scripts.createKey, org, {
    ...keyArgs({
      name: checkName(key.name),
      permissions: checkPermissions(key.permissions),
      spaces,
      mailboxes: checkMailboxes(key.mailboxes, spaces),
      holder: checkHolder(key.holder),
      expiresInDays: checkDays(key.expiresInDays),
    }),
    digest: apiKeyDigest(apiKey),
    first: key.first ? '1' : '',
  });
  return { ...keyOf(org, created.apiKey), apiKey };
}

/**
 * Creates a key with the rights and the expiry of another one. The other key expires after this many hours, with 0 at
 * once. Throws Refusal: ORG_NOT_FOUND, KEY_NOT_FOUND, KEY_ENDED, ENTITLEMENT_EXCEEDED.
 */
export async function rotateKey(
  admin: Admin,
  { org, keyId, overlapHours }: { org: string; keyId: string; overlapHours: number },
): Promise<CreatedKey & { replaced: KeyAnswer }> {
  const apiKey = newApiKey(checkOrg(org));
  const rotated = await admin.scripts.ask(scripts.rotateKey, org, {
    keyId: checkUuid('keyId', keyId),
    overlapHours: checkOverlap(overlapHours),
    digest: apiKeyDigest(apiKey),
    tail: randomTail(),
    detail: JSON.stringify({ replaced: keyId.toLowerCase(), overlapHours }),
  });
  return { ...keyOf(org, rotated.apiKey), apiKey, replaced: keyOf(org, rotated.replaced) };
}

/** All keys with expired and revoked ones, oldest first. Throws Refusal: ORG_NOT_FOUND. */
export async function listKeys(admin: Admin, org: string): Promise<KeyAnswer[]> {
  checkOrg(org);
  const keys: KeyAnswer[] = [];
  for (let cursor = ''; ; ) {
    const page = await admin.scripts.ask(scripts.listKeys, org, { limit: keysPerPage, cursor });
    keys.push(...page.keys.map((key) => keyOf(org, key)));
    if (page.nextCursor === null) return keys.reverse();
    cursor = page.nextCursor;
  }
}

/** Revokes a key; its next request is refused. Repeating it is no error. Throws Refusal: ORG_NOT_FOUND, KEY_NOT_FOUND. */
export async function revokeKey(admin: Admin, org: string, keyId: string): Promise<KeyAnswer> {
  const args = { keyId: checkUuid('keyId', keyId) };
  const { apiKey } = await admin.scripts.ask(scripts.revokeKey, checkOrg(org), args);
  return keyOf(org, apiKey);
}

interface AuditPage {
  entries: readonly (typeof AuditEntry.type)[];
  /** null after the oldest entry */
  nextCursor: string | null;
}

interface AuditChoice {
  limit?: number;
  cursor?: string;
  /** Only what this key did. */
  key?: string;
}

/**
 * The audit trail before `cursor`, newest first. With a key, a page may be short, and even empty, before the last one.
 * Throws Refusal: ORG_NOT_FOUND.
 */
export async function listAudit(admin: Admin, org: string, choice: AuditChoice = {}): Promise<AuditPage> {
  const { limit = 100, cursor = '', key } = choice;
  const keyId = key === undefined ? '' : checkUuid('key', key);
  const args = { limit: checkAuditLimit(limit), cursor: checkAuditCursor(cursor), keyId };
  const { entries, nextCursor } = await admin.scripts.ask(scripts.audit, checkOrg(org), args);
  return { entries, nextCursor };
}

function planArgs({ org, plan, figures: typed }: PlanChoice) {
  const { keys, ...figures } = figuresOf(plan, typed);
  const detail = JSON.stringify(plan === 'enterprise' ? { plan, ...figures, keys } : { plan });
  return { org: checkOrg(org), plan, ...figures, apiKeys: keys, detail };
}
