import { expect } from 'chai';
import { codeOf, type Reply } from '../../support/world.ts';
import { iso, minute, start, Timetable } from './timetable.ts';

describe('A schedule for a key that is limited to mailboxes', () => {
  it('is there if it sends to one of these; any other is refused, and in no list', async () => {
    const table = await Timetable.create();
    const { world } = table;
    const { id: other } = await world.mustPost('/mailboxes', { name: 'other' });
    const [mine, theirs] = [await table.created(), await table.created({ mailboxId: other })];
    const key = await world.key(['coordination_read', 'coordination_write'], undefined, {
      mailboxes: [table.mailboxId],
    });
    const headers = { Authorization: `Bearer ${key}` };
    const calls = async (id: string): Promise<string[]> => {
      const replies: Reply[] = [
        await world.call('GET', `/schedules/${id}`, undefined, headers),
        await world.call('PATCH', `/schedules/${id}`, { state: 'PAUSED' }, headers),
        await world.post(`/schedules/${id}/trigger`, undefined, headers),
        await world.call('DELETE', `/schedules/${id}`, undefined, headers),
      ];
      return replies.map(codeOf);
    };
    const listed = (await world.call('GET', '/schedules', undefined, headers)).body.schedules;
    expect(listed.map(({ id }: { id: string }) => id)).to.deep.equal([mine.id]);
    expect(await calls(theirs.id)).to.deep.equal(Array(4).fill('403 PERMISSION_DENIED'));
    expect(await calls(mine.id)).to.deep.equal(['200', '200', '200', '204']);
  });
});

describe('The message of a schedule', () => {
  it('has its priority and key, also after both were changed; the same values again change nothing', async () => {
    const table = await Timetable.create();
    const { id, ...created } = await table.created({ priority: 3, key: 'k' });
    expect(created).to.include({ priority: 3, key: 'k' });
    await table.fireAt(start + minute);
    const changed = await table.patch(id, { priority: 5, key: 'l' });
    expect(changed.body).to.include({ priority: 5, key: 'l', nextAt: iso(start + 2 * minute) });
    await table.patch(id, { priority: 5, key: 'l' });
    expect(await table.events('schedule.updated')).to.have.length(1);
    await table.fireAt(start + 2 * minute);
    const sent = (await table.sent()).map(({ priority, key }) => [priority, key]);
    expect(sent).to.have.deep.members([
      [3, 'k'],
      [5, 'l'],
    ]);
  });
});

describe('The metrics of schedules', () => {
  it('have how late the next moment of the space is', async () => {
    const table = await Timetable.create();
    const late = async (): Promise<number> => {
      const args = { spaceId: '', requestId: '', counters: 'messages:READY', ages: 'nextScheduleAt', maxSpaces: 10 };
      const [, , , ages] = await table.world.service.scripts.execute('space/depths', table.world.org, args);
      return (ages as number[])[0] ?? -1;
    };
    expect(await late()).to.equal(0);
    await table.created({ everySeconds: 120 });
    await table.created({ everySeconds: 60 });
    await table.at(start + minute + 700);
    expect(await late()).to.equal(700);
    await table.fire();
    expect(await late()).to.equal(0);
  });
});
