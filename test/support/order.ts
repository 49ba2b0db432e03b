import { expect } from 'chai';

/**
 * Expects that one thing happens before another one, such as the end of a wait that nothing ends early. A bound in
 * milliseconds would measure the machine.
 */
export async function expectBefore<T>(first: Promise<T>, other: Promise<unknown>, what = 'first'): Promise<T> {
  const isFirst = await Promise.race([first.then(() => true), other.then(() => false)]);
  expect(isFirst, what).to.equal(true);
  return first;
}
