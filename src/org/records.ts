import { iso, isoOrNull } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import type { Permission } from '../http/route.ts';
import { type Figure, type FigureName, figureNames, type PlanFigures, type PlanName } from './plans.ts';

/**
 * An organization; `usage` has what is in use of each figure: this month's operations, this minute's requests (null where
 * the plan does not limit them: they are not counted then).
 */
export interface Organization {
  org: string;
  plan: PlanName;
  figures: PlanFigures;
  usage: Record<Exclude<FigureName, 'retentionDays' | 'rpm'>, number> & { rpm: number | null };
  createdAt: string;
}

export interface Space {
  spaceId: string;
  org: string;
  name: string | null;
  createdAt: string;
}

export interface ApiKey {
  keyId: string;
  org: string;
  name: string | null;
  permissions: Permission[];
  /** empty: every space of the organization */
  spaces: string[];
  createdAt: string;
  revokedAt: string | null;
}

export interface AuditEntry {
  at: string;
  action: string;
  /** a keyId, or `cli` */
  actor: string;
  target: string;
  detail: unknown;
}

/** The reply of org/show. */
export function organizationOf(org: string, reply: Reply): Organization {
  const [plan, ...rest] = reply;
  const figures = Object.fromEntries(figureNames.map((name, index) => [name, figureOf(rest[index])]));
  const [agents, spaces, runs, tasks, keys, operations, requests] = rest.slice(9).map(Number);
  const rpm = figures['rpm'] === 'unlimited' ? null : requests;
  const usage = { operations, agents, spaces, runs, tasks, keys, rpm } as Organization['usage'];
  return {
    org,
    plan: plan as PlanName,
    figures: figures as unknown as PlanFigures,
    usage,
    createdAt: iso(rest[8]),
  };
}

/** A space of space/list. */
export function spaceOf(org: string, [spaceId, name, createdAt]: Reply): Space {
  return { spaceId: String(spaceId), org, name: nameOf(name), createdAt: iso(createdAt) };
}

/** A key of org/listKeys. */
export function apiKeyOf(org: string, [keyId, name, permissions, spaces, createdAt, revokedAt]: Reply): ApiKey {
  return {
    keyId: String(keyId),
    org,
    name: nameOf(name),
    permissions: listOf(permissions) as Permission[],
    spaces: listOf(spaces),
    createdAt: iso(createdAt),
    revokedAt: isoOrNull(revokedAt),
  };
}

/** A stream entry; its id carries the moment. */
export function auditEntryOf([id, flat]: Reply): AuditEntry {
  const fields: Record<string, Value> = {};
  const texts = flat as Value[];
  for (let i = 0; i + 1 < texts.length; i += 2) fields[String(texts[i])] = texts[i + 1] ?? null;
  const text = (name: string) => String(fields[name] ?? '');
  return {
    at: iso(String(id).split('-', 1)[0]),
    action: text('action'),
    actor: text('actor'),
    target: text('target'),
    detail: detailOf(text('detail')),
  };
}

/** Every script writes JSON; an entry that has something else must not hide all others. */
function detailOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function figureOf(value: Value | undefined): Figure {
  return value === 'unlimited' ? value : Number(value);
}

function nameOf(value: Value | undefined): string | null {
  return value ? String(value) : null;
}

function listOf(value: Value | undefined): string[] {
  return value ? String(value).split(',') : [];
}
