import { text } from '../../engine/declare/field.ts';
import { grantedLimits, type LimitValues, limitsAt, limitsText, readLimits } from '../space/limits.ts';
import type { Admin, AdminAnswer } from './admin.ts';
import { checkLimit, checkOrg, checkUuid } from './input.ts';

const setLimits = { script: 'space/setLimits', reply: { limits: text() } };

/**
 * Sets the given limits, each a whole number or `default` as typed, and returns all limits of the space. Throws Refusal:
 * ORG_NOT_FOUND, SPACE_NOT_FOUND, ENTITLEMENT_EXCEEDED.
 */
export async function spaceLimits(
  admin: Admin,
  { org, spaceId, typed }: { org: string; spaceId: string; typed: Readonly<Record<string, string>> },
): Promise<AdminAnswer<{ readonly spaceId: string } & LimitValues>> {
  const id = checkUuid('spaceId', spaceId);
  const requested = Object.entries(typed).map(
    ([name, value]) => [name, checkLimit(name, value, admin.limits[name])] as const,
  );
  const { limits } = await admin.scripts.ask(setLimits, checkOrg(org), {
    spaceId: id,
    requestId: '',
    defaults: limitsText(limitsAt(admin.limits, 'default')),
    granted: grantedLimits(admin.limits),
    requested: limitsText(Object.fromEntries(requested)),
  });
  return { spaceId: id, org, ...readLimits(limits) } as AdminAnswer<{ readonly spaceId: string } & LimitValues>;
}
