import type { Fields } from '../declare/field.ts';
import { One, type RecordDeclaration } from '../declare/record.ts';
import type { Value } from '../declare/value.ts';

/** Values of a record by their names in scripts. */
export type Given = Readonly<Record<string, Value | undefined>>;
type Members = Readonly<Record<string, unknown>>;

interface Declared<I> {
  readonly success: object;
  readonly reply: Fields;
  readonly makes?: RecordDeclaration | undefined;
  readonly given?: ((input: I) => Given) | undefined;
}

/** The record of a reply that an answer shows as it is: if the call makes one, only a nullable one, which was made earlier. */
export const knownRecord = ({ reply, makes }: Pick<Declared<never>, 'reply' | 'makes'>): string | undefined =>
  Object.entries(reply).find(([, field]) => field instanceof One && (!makes || field.special.isNullable))?.[0];

/** The `answer` of a route that declares the record it makes, or whose script says whether its record was known. */
export function recordAnswer<I>(route: Declared<I>) {
  const { success, reply, makes, given } = route;
  if (!makes && !('known' in reply)) return {};
  const statuses = Object.keys(success).map(Number);
  const [forKnown = 200] = statuses;
  const forNew = statuses.at(-1) ?? forKnown;
  const known = knownRecord(route);
  const parts = Object.keys(reply).filter((name) => reply[name] instanceof One && name !== known);
  const hasReplay = makes?.fields['replay'] !== undefined;
  const answer = (values: Members, input: I, replayed: boolean) => {
    const asked = given?.(input) ?? {};
    const whole = known === undefined ? null : values[known];
    const record = whole ?? makes?.of((name) => asked[name] ?? (values[name] as Value | undefined) ?? null);
    const isWhole = makes !== undefined && record === whole;
    // Both were made for this answer, and a copy would take longer than all else.
    const body = record as Record<string, unknown>;
    if (hasReplay && (isWhole || replayed)) body['replay'] = true;
    for (const part of parts) body[part] = values[part];
    const isKnown = isWhole || [true, 1, '1'].includes(values['known'] as string);
    return { status: isKnown ? forKnown : forNew, body };
  };
  return { answer };
}
