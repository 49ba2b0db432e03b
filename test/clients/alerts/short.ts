import { type Rule, shippedRules } from './rules.ts';

/** How much sooner the copies fire. Ages of hours become seconds. */
const [perWindow, perAge] = [60, 500];
/** Scrapes come once a second, and figures of the store every five seconds. */
const [leastWindow, leastAge] = [6, 4];
const seconds = { s: 1, m: 60, h: 3600 };

const shortened = (amount: string, unit: string): number =>
  (Number(amount) * seconds[unit as keyof typeof seconds]) / perWindow;

/** `10m` in brackets is a window, and a subquery, `10m:1m`, has a step, too. */
function shortWindows(expr: string): string {
  const window = (amount: string, unit: string): string => `${Math.max(leastWindow, shortened(amount, unit))}s`;
  return expr
    .replaceAll(/\[(\d+)([smh])(:\d+[smh])?\]/g, (_, n: string, unit: string, step?: string) => {
      return `[${window(n, unit)}${step === undefined ? '' : ':1s'}]`;
    })
    .replaceAll(/offset (\d+)([smh])/g, (_, n: string, unit: string) => `offset ${window(n, unit)}`);
}

/** An age, or a lag, that an alert is for. */
function shortAges(expr: string): string {
  return expr.replaceAll(/(muster_\w*(?:age|lag|destination)_seconds\)?) > (\d+)/g, (_, metric: string, n: string) => {
    return `${metric} > ${Math.max(leastAge, Number(n) / perAge)}`;
  });
}

/** A copy of a shipped rule that fires and resolves in seconds. */
export function shortRule({ expr, for: held, ...rest }: Rule): Rule {
  const [, amount = '0', unit = 's'] = /^(\d+)([smh])$/.exec(held ?? '') ?? [];
  const short = shortAges(shortWindows(expr));
  return { ...rest, expr: short, ...(held !== undefined && { for: `${Math.ceil(shortened(amount, unit))}s` }) };
}

/** The file of rules, as JSON, which YAML includes. */
export const shortRules = (): string =>
  JSON.stringify({ groups: [{ name: 'muster', rules: shippedRules().map(shortRule) }] });
