import { randomBytes } from 'node:crypto';
import { nowOf } from '../redis/cluster.ts';
import type { Store } from '../redis/connection.ts';
import { orUnavailable, unless } from '../redis/failures.ts';
import { keyName } from '../redis/keys.ts';
import { organizationNames } from '../redis/organizations.ts';
import { spaceKeys } from '../space/keys.ts';
import type { Admin } from './admin.ts';
import { orgKeys } from './keys.ts';

const renewal = { script: 'org/renewEpoch', reply: {} };
const pageSize = 500;
/** More than a store that appends every second can have lost, by far. */
const aheadMs = 60_000;

/** What renewing needs of an operator's means. */
export type Renewing = Pick<Admin, 'store' | 'scripts'>;

/**
 * After a loss of acknowledged writes (a restore, an unclean start): begins a new generation of every journal, so that
 * no cursor goes on over the gap, and sees to it that no event id is issued twice. Answers how many organizations there
 * are.
 */
export async function renewEpochs(admin: Renewing): Promise<number> {
  const orgs = new Set(await orUnavailable(organizationNames(admin.store)));
  for (const org of orgs) {
    await orUnavailable(passNewest(admin, org));
    const epoch = randomBytes(8).toString('hex');
    // A name without a record: its creation never came to an end.
    const renewed = await admin.scripts.ask(renewal, org, { epoch }).catch(unless('ORG_NOT_FOUND'));
    if (!renewed) orgs.delete(org);
  }
  return orgs.size;
}

/**
 * An event's id is its moment. Where a journal's newest entry lies in the future, the clock has been put back: what
 * was lost then was counted on from that entry, and would be counted again. So the journal goes on well after it.
 */
async function passNewest({ store }: Renewing, org: string): Promise<void> {
  const now = await nowOf(store);
  const spaces = keyName(orgKeys.spaces, { org });
  for (let start = 0, page = ['']; page.length > 0; start += pageSize) {
    page = await store.zrange(spaces, String(start), String(start + pageSize - 1), 'WITHSCORES');
    const numbers = page.filter((_, index) => index % 2 === 1);
    await Promise.all(
      numbers.map((spaceNumber) => passNewestOf(store, keyName(spaceKeys.events, { org, spaceNumber }), now)),
    );
  }
}

async function passNewestOf(store: Store, journal: string, now: number): Promise<void> {
  if ((await store.exists(journal)) === 0) return;
  const stream = (await store.xinfo('STREAM', journal)) as unknown[];
  const newest = String(stream[stream.indexOf('last-generated-id') + 1]);
  const at = Number(newest.split('-')[0]);
  if (at > now) await store.call('XSETID', journal, `${at + aheadMs}-0`);
}
