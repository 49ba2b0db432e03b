import { randomBytes } from 'node:crypto';
import { keyName } from '../../engine/library/keys.ts';
import { nowOf } from '../../engine/redis/cluster.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { orUnavailable, unless } from '../../engine/redis/failures.ts';
import { organizationNames } from '../../engine/redis/organizations.ts';
import { spaceKeys } from '../space/keys.ts';
import type { Admin } from './admin.ts';
import { orgKeys } from './keys.ts';

const renewal = { script: 'org/renewEpoch', reply: {} };
const pageSize = 500;
/** Far more than a crash can lose if the store is flushed every second. */
const aheadMs = 60_000;

/** The parts of Admin that these functions need. */
export type Renewing = Pick<Admin, 'store' | 'scripts'>;

/**
 * Makes sure that no event id is issued twice after a loss of acknowledged writes. Event ids contain the time. If the
 * newest entry of any journal is in the future, the clock was set back, and new ids could repeat those of the lost
 * entries after it. All journals then continue well after that entry. Resolves with the number of organizations.
 */
export async function passNewest({ store }: Renewing): Promise<number> {
  const newest = new Map<string, number>();
  const orgs = new Set(await orUnavailable(organizationNames(store)));
  for (const org of orgs) await orUnavailable(readNewest(store, org, newest));
  // Read last, as calls add entries in the meantime.
  const now = await orUnavailable(nowOf(store));
  const last = [...newest.values()].reduce((latest, at) => Math.max(latest, at), 0);
  if (last <= now) return orgs.size;
  for (const key of newest.keys()) await orUnavailable(store.call('XSETID', key, `${last + aheadMs}-0`));
  return orgs.size;
}

/**
 * Like passNewest, after a restore. It also starts a new epoch of every journal, so that no cursor continues across the
 * gap. Resolves with the number of organizations.
 */
export async function renewEpochs(admin: Renewing): Promise<number> {
  await passNewest(admin);
  const orgs = new Set(await orUnavailable(organizationNames(admin.store)));
  for (const org of orgs) {
    const epoch = randomBytes(8).toString('hex');
    // A listed name without a record: its creation was interrupted.
    const renewed = await admin.scripts.ask(renewal, org, { epoch }).catch(unless('ORG_NOT_FOUND'));
    if (!renewed) orgs.delete(org);
  }
  return orgs.size;
}

/** Adds an organization's journals, each with the time of its newest entry. */
async function readNewest(store: Store, org: string, newest: Map<string, number>): Promise<void> {
  const spaces = keyName(orgKeys.spaces, { org });
  for (let start = 0, page = ['']; page.length > 0; start += pageSize) {
    page = await store.zrange(spaces, String(start), String(start + pageSize - 1), 'WITHSCORES');
    const numbers = page.filter((_, index) => index % 2 === 1);
    await Promise.all(
      numbers.map(async (spaceNumber) => {
        const journal = keyName(spaceKeys.events, { org, spaceNumber });
        if ((await store.exists(journal)) === 0) return;
        const stream = (await store.xinfo('STREAM', journal)) as unknown[];
        const last = String(stream[stream.indexOf('last-generated-id') + 1]);
        newest.set(journal, Number(last.split('-')[0]));
      }),
    );
  }
}
