import { measure } from '../thread.ts';

export { sleep } from '../thread.ts';

export function check(value: unknown, sets: Readonly<Record<string, (value: unknown) => boolean>>): boolean {
  let isAll = true;
  for (const [name, holds] of Object.entries(sets)) {
    const isSo = Boolean(holds(value));
    measure({ metric: 'checks', kind: 'rate', value: Number(isSo), tags: { check: name } });
    isAll &&= isSo;
  }
  return isAll;
}

export function fail(text: string): never {
  throw new Error(text);
}
