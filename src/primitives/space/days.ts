import { text } from '../../engine/declare/field.ts';

const dayMs = 86_400_000;
const dateForm = /^\d{4}-\d\d-\d\d$/;
export const date = () => text(dateForm);

export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The number of days since 1970; NaN if the text is no date. */
export function dayOf(text: string): number {
  const at = dateForm.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || dateOf(at / dayMs) !== text ? Number.NaN : at / dayMs;
}
