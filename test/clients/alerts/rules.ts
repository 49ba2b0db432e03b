import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

export const shippedFile = fileURLToPath(new URL('../../../src/engine/metrics/alerts.yml', import.meta.url));

/** The shipped rules. */
export function shippedRules(): readonly Rule[] {
  const { groups } = parse(readFileSync(shippedFile, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
