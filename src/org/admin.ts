import { randomBytes } from 'node:crypto';
import type { Reply } from '../declare/value.ts';
import { apiKeyDigest } from '../http/api-key.ts';
import { randomTail } from '../http/random.ts';
import type { Store } from '../redis/connection.ts';
import { orUnavailable, unless } from '../redis/failures.ts';
import { listOrganization, organizationNames } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import { newApiKey } from './api-key.ts';
import {
  checkAuditCursor,
  checkAuditLimit,
  checkName,
  checkOrg,
  checkPermissions,
  checkSpaces,
  checkUuid,
} from './input.ts';
import { defaultLimits, type FigureName, figuresOf, type SpaceLimits } from './plans.ts';
import {
  type ApiKey,
  type AuditEntry,
  apiKeyOf,
  auditEntryOf,
  type Organization,
  organizationOf,
  type Space,
  spaceOf,
} from './records.ts';

/**
 * What an operator does to organizations, spaces and keys (contract section 1). Every function rejects with
 * InvalidInput for what is typed wrong, Refusal (ORG_NOT_FOUND, …) for what the store's state forbids, and
 * StoreUnavailable.
 */
export interface Admin {
  store: Store;
  scripts: Scripts;
}

const pageSize = 200;

export interface PlanChoice {
  org: string;
  plan: string;
  /** the enterprise plan's own figures, as typed */
  figures?: Partial<Record<FigureName, string>>;
}

/** Refused with ORG_EXISTS. */
export async function createOrganization(admin: Admin, choice: PlanChoice): Promise<Organization> {
  const args = planArgs(choice);
  await orUnavailable(listOrganization(admin.store, choice.org));
  await admin.scripts.run('org/create', choice.org, { ...args, epoch: randomBytes(8).toString('hex') });
  return showOrganization(admin, choice.org);
}

/** Refused with ORG_NOT_FOUND. */
export async function showOrganization(admin: Admin, org: string): Promise<Organization> {
  return organizationOf(org, await admin.scripts.run('org/show', checkOrg(org), {}));
}

/** All organizations, by name. */
export async function listOrganizations(admin: Admin): Promise<Organization[]> {
  const names = await orUnavailable(organizationNames(admin.store));
  const organizations: Organization[] = [];
  for (const org of [...names].sort()) {
    const found = await showOrganization(admin, org).catch(unless('ORG_NOT_FOUND'));
    if (found) organizations.push(found);
  }
  return organizations;
}

/** What is in use stays in use, even above the new figures. Refused with ORG_NOT_FOUND. */
export async function setPlan(admin: Admin, choice: PlanChoice): Promise<Organization> {
  await admin.scripts.run('org/setPlan', choice.org, planArgs(choice));
  return showOrganization(admin, choice.org);
}

interface NewSpace {
  org: string;
  name?: string;
  limits?: SpaceLimits;
  /** answer the oldest space where there is one already */
  first?: boolean;
}

/** Refused with ORG_NOT_FOUND, ENTITLEMENT_EXCEEDED. */
export async function createSpace(admin: Admin, space: NewSpace): Promise<Space> {
  const { org, limits = defaultLimits } = space;
  const name = checkName(space.name);
  const args = {
    ...limits,
    name,
    tail: randomTail(),
    first: space.first ? '1' : '',
    detail: JSON.stringify({ name: space.name ?? null }),
  };
  const [spaceId, createdAt] = await admin.scripts.run('space/create', checkOrg(org), args);
  return spaceOf(org, [spaceId ?? null, name, createdAt ?? null]);
}

/** All spaces, oldest first. Refused with ORG_NOT_FOUND. */
export async function listSpaces(admin: Admin, org: string): Promise<Space[]> {
  checkOrg(org);
  const spaces: Space[] = [];
  for (let page: Reply = [null]; page.length > 0; ) {
    page = await admin.scripts.run('space/list', org, { cursor: spaces.at(-1)?.spaceId ?? '', limit: pageSize });
    for (const record of page) spaces.push(spaceOf(org, record as Reply));
  }
  return spaces;
}

export interface NewKey {
  org: string;
  permissions: readonly string[];
  /** left out: every space, also later ones */
  spaces?: readonly string[];
  name?: string;
  /** refuse with KEY_EXISTS when the organization ever had a key */
  first?: boolean;
}

/**
 * The only time that `apiKey` is seen: the store gets its digest. Refused with ORG_NOT_FOUND, SPACE_NOT_FOUND,
 * ENTITLEMENT_EXCEEDED.
 */
export async function createKey(admin: Admin, key: NewKey): Promise<ApiKey & { apiKey: string }> {
  const org = checkOrg(key.org);
  const granted = {
    name: checkName(key.name),
    permissions: checkPermissions(key.permissions),
    spaces: checkSpaces(key.spaces),
  };
  const { name, permissions, spaces } = granted;
  const apiKey = newApiKey(org);
  const [keyId = null, createdAt = null] = await admin.scripts.run('org/createKey', org, {
    name,
    permissions: permissions.join(','),
    spaces: spaces.join(','),
    apiKeyDigest: apiKeyDigest(apiKey),
    tail: randomTail(),
    first: key.first ? '1' : '',
    detail: JSON.stringify({ ...granted, name: key.name ?? null }),
  });
  const record = apiKeyOf(org, [keyId, name, permissions.join(','), spaces.join(','), createdAt, null]);
  return { ...record, apiKey };
}

/** All keys, revoked ones too, oldest first. Refused with ORG_NOT_FOUND. */
export async function listKeys(admin: Admin, org: string): Promise<ApiKey[]> {
  checkOrg(org);
  const keys = new Map<string, ApiKey>();
  let cursor = '0';
  do {
    const [next, some] = await admin.scripts.run('org/listKeys', org, { cursor });
    for (const record of some as Reply[]) keys.set(String(record[0]), apiKeyOf(org, record));
    cursor = String(next);
  } while (cursor !== '0');
  return [...keys.values()].sort((a, b) => (a.keyId < b.keyId ? -1 : 1));
}

/** The next request with the key is refused; again is no error. Refused with ORG_NOT_FOUND, KEY_NOT_FOUND. */
export async function revokeKey(admin: Admin, org: string, keyId: string): Promise<ApiKey> {
  return apiKeyOf(org, await admin.scripts.run('org/revokeKey', checkOrg(org), { keyId: checkUuid('keyId', keyId) }));
}

interface AuditPage {
  entries: AuditEntry[];
  /** null: that was the oldest entry */
  nextCursor: string | null;
}

/** What was changed, newest first, before `cursor`. Refused with ORG_NOT_FOUND. */
export async function listAudit(admin: Admin, org: string, limit = 100, cursor = ''): Promise<AuditPage> {
  // One more than asked for tells whether there is another page.
  const args = { limit: checkAuditLimit(limit) + 1, cursor: checkAuditCursor(cursor) };
  const found = (await admin.scripts.run('org/audit', checkOrg(org), args)) as Reply[];
  const page = found.slice(0, limit);
  return { entries: page.map(auditEntryOf), nextCursor: found.length > limit ? String(page.at(-1)?.[0]) : null };
}

function planArgs({ org, plan, figures: own }: PlanChoice) {
  const { keys, ...figures } = figuresOf(plan, own);
  const detail = JSON.stringify(plan === 'enterprise' ? { plan, ...figures, keys } : { plan });
  return { org: checkOrg(org), plan, ...figures, apiKeys: keys, detail };
}
