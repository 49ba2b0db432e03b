import { Spoiling } from './spoiling.ts';

describe('The recount used by tests, of counters', () => {
  it('notices any that is wrong', async () => {
    await Spoiling.expectNoticed(53, async (spoiling) => {
      const { world } = spoiling;
      const { store } = world.service;
      const spaceKey = `muster:{${world.org}}:${world.spaceId}`;
      const orgKey = `muster:{${world.org}}`;
      const recordsOf = async (kind: string): Promise<string[]> =>
        (await store.keys(`${spoiling.prefix}${kind}:*`)).filter((key) => /:[0-9a-f-]{36}$/.test(key)).sort();
      const counters: readonly (readonly [name: string | undefined, fields: readonly string[], isNamed: boolean])[] = [
        [(await recordsOf('budget'))[0], ['limitMinor', 'reserved', 'settled', 'available', 'overdrawn'], false],
        [
          (await recordsOf('mailbox'))[0],
          ['ready', 'delayed', 'blocked', 'claimed', 'failed', 'orderedDelayed', 'undecidedGroups'],
          true,
        ],
        [
          (await recordsOf('mailbox'))[0],
          [
            'goneTotal',
            'ackedRemoved',
            'unackedTotal',
            'requeuedTotal',
            'rejectedTotal',
            'failedTotal',
            'cancelledTotal',
            'figuresMinute',
          ],
          false,
        ],
        [
          (await recordsOf('group'))[0],
          [
            ...['members', 'pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled'],
            ...['accepted', 'rejected', 'unjudged'],
          ],
          true,
        ],
        [
          (await recordsOf('scope'))[0],
          [
            ...[
              'live',
              'liveWaiters',
              'activeReservations',
              'undecidedGroups',
              'declaredChildren',
              'notes',
              'noteBytes',
            ],
            ...['endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled'],
          ],
          true,
        ],
        [(await recordsOf('pool'))[0], ['heldUnits', 'requiredBy'], true],
        [spaceKey, ['ackedRemoved', 'unackedTotal', 'requeuedTotal', 'retainedBytes', 'figuresMinute'], false],
        [spaceKey, ['messages:READY', 'scopes:ACTIVE', 'scopes:IDLE', 'groups:OPEN', 'timers:ARMED'], false],
        [orgKey, ['usedAgents', 'usedTasks', 'usedRuns'], false],
      ];
      for (const [name = '', fields, isNamed] of counters)
        for (const field of fields) {
          if (!spoiling.isMine()) continue;
          await store.hincrby(name, field, 1);
          // The service shows figures from counters of mailboxes, too.
          await spoiling.check(`${name} ${field}`, isNamed ? field : '', {
            hasFigures: !isNamed || field.startsWith('ended'),
          });
          await store.hincrby(name, field, -1);
        }
    });
  });
});
