// A room whose scripts only make changes, to test the unit of work.
import { fileURLToPath } from 'node:url';
import { events } from '../../src/engine/declare/event.ts';
import { number, state, text } from '../../src/engine/declare/field.ts';
import { census, fieldsIn, record } from '../../src/engine/declare/record.ts';
import type { KeyDeclaration } from '../../src/engine/library/keys.ts';
import type { Room } from '../../src/primitives/room.ts';

const Probe = record('Probe', {
  id: text(),
  changes: number(),
  note: text().orNull(),
  state: state('probes', 'MADE'),
});

const key = (name: string, type: KeyDeclaration['type'], holds = 'what is changed'): KeyDeclaration => ({
  pattern: `muster:{org}:<spaceNumber>:${name}`,
  type,
  holds,
  goes: 'never',
});

export const probeRoom: Room = {
  name: 'probe',
  lua: fileURLToPath(new URL('probe/', import.meta.url)),
  keys: {
    probe: key('probe:<name>', 'hash', fieldsIn(Probe)),
    probesByChanges: key('probesByChanges', 'zset'),
    probeNotes: key('probeNotes', 'hash'),
    probeNames: key('probeNames', 'set'),
    probeLog: key('probeLog', 'list'),
  },
  records: [Probe],
  events: events({ 'probe.changed': { changes: Probe.fields.changes } }),
  census: { probes: census(Probe) },
};
