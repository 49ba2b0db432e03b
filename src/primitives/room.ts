import { type EventDeclaration, eventCounts } from '../engine/declare/event.ts';
import type { Fields } from '../engine/declare/field.ts';
import { commonFields, type Glossary, glossaryOf } from '../engine/declare/glossary.ts';
import type { RecordDeclaration } from '../engine/declare/record.ts';
import type { KeyTable } from '../engine/library/keys.ts';
import type { LuaNames } from '../engine/library/loader.ts';
import { batchErrors } from '../engine/route/batch-errors.ts';
import { batchRoute, isAtomic } from '../engine/route/batch-route.ts';
import { commonErrors, type ErrorTable } from '../engine/route/errors.ts';
import type { Route, Tag } from '../engine/route/route.ts';

/** A limit of a space, set by its operator. */
export interface Limit {
  readonly meaning: string;
  readonly min: number;
  readonly max: number;
  /** null: unlimited, and so is the highest value that can be set. */
  readonly default: number | null;
  /** The plan sets the upper bound (at most `max`). Exceeding it is the plan's error, not a validation error. */
  readonly isGranted?: true;
}

export type Limits = Readonly<Record<string, Limit>>;

/** The parts of the service that any room may add to. */
export interface Declarations {
  readonly records: readonly RecordDeclaration[];
  readonly events: readonly EventDeclaration[];
  /** Fields of the census, the backlog, the waits and the view of a run. */
  readonly census: Fields;
  readonly backlog: Fields;
  readonly waits: Fields;
  readonly inRun: Fields;
  /** The counters of a run's cancel, and the records that stay (lua/lib/hooks, lua/lib/hooks). */
  readonly cancelled: Fields;
  readonly stays: Fields;
  readonly limits: Limits;
}

/** A primitive: everything that the rest of the product knows about it. */
export interface Room extends Partial<Omit<Declarations, 'events'>> {
  /** The name of its folders in lua/, src/primitives/ and test/spec/. */
  readonly name: string;
  /** For a room with routes. */
  readonly tag?: Tag;
  /** The folder of its Lua files, if not lua/<name>. */
  readonly lua?: string;
  /** A function for rooms whose routes show what others contribute. */
  readonly routes?: readonly Route[] | ((all: Declarations) => readonly Route[]);
  /** Routes without a space, whose paths are below /v1. */
  readonly spacelessRoutes?: readonly Route[];
  /** A function for the space's room, whose events include the limits of all rooms. */
  readonly events?: readonly EventDeclaration[] | ((limits: Limits) => readonly EventDeclaration[]);
  readonly keys?: KeyTable;
  readonly errors?: ErrorTable;
  /** Fields that it stores in other rooms' records, by their names in scripts. They are never part of a response. */
  readonly extends?: Readonly<Record<string, Fields>>;
}

/** The combined declarations of all rooms. */
export interface Product extends Declarations {
  readonly routes: readonly Route[];
  readonly spacelessRoutes: readonly Route[];
  readonly errors: ErrorTable;
  /** By room, in order. */
  readonly tags: ReadonlyMap<string, Tag>;
  /** The field descriptions for a room's calls: those of its own records come first. */
  readonly glossary: (room: string) => Glossary;
  readonly words: LuaNames;
}

/** Combines rooms. Throws if a name is declared twice. */
export function collect(rooms: readonly Room[]): Product {
  const merged = <T>(of: (room: Room) => Readonly<Record<string, T>> | undefined): Readonly<Record<string, T>> =>
    Object.fromEntries(
      unique(
        rooms.flatMap((room) => Object.entries(of(room) ?? {})),
        ([name]) => name,
      ).values(),
    );
  const limits = merged((room) => room.limits);
  const events = rooms.flatMap(({ events = [] }) => (typeof events === 'function' ? events(limits) : events));
  const parts: Declarations = {
    records: rooms.flatMap((room) => room.records ?? []).map((record) => extended(record, rooms)),
    events,
    census: { ...merged((room) => room.census), ...eventCounts(events) },
    backlog: merged((room) => room.backlog),
    waits: merged((room) => room.waits),
    inRun: merged((room) => room.inRun),
    cancelled: merged((room) => room.cancelled),
    stays: merged((room) => room.stays),
    limits,
  };
  const words: LuaNames = {
    keys: merged((room) => room.keys),
    records: unique(parts.records, ({ luaName }) => luaName),
    events: unique(parts.events, ({ type }) => type),
    folders: merged(({ name, lua }) => (lua === undefined ? {} : { [name]: lua })),
  };
  // Each route asks for its room's, and each takes a millisecond.
  const glossaries = new Map<string, Glossary>();
  const routes = rooms.flatMap(({ routes = [] }) => (typeof routes === 'function' ? routes(parts) : routes));
  return {
    ...parts,
    routes: [...routes, { ...batchRoute, parts: routes.filter(isAtomic) }],
    spacelessRoutes: rooms.flatMap(({ spacelessRoutes = [] }) => spacelessRoutes),
    errors: { ...commonErrors, ...batchErrors, ...merged((room) => room.errors) },
    tags: new Map(
      rooms
        .flatMap(({ name, tag }) => (tag ? [[name, tag] as const] : []))
        .sort(([, { place: a = rooms.length }], [, { place: b = rooms.length }]) => a - b),
    ),
    glossary: (name) => {
      const own = rooms.find((room) => room.name === name)?.records ?? [];
      const known = glossaries.get(name) ?? glossaryOf([...own, commonFields, ...parts.records]);
      glossaries.set(name, known);
      return known;
    },
    words,
  };
}

/** A record with the fields that other rooms store in it. */
function extended(record: RecordDeclaration, rooms: readonly Room[]): RecordDeclaration {
  const extra: Fields = Object.assign({}, ...rooms.map((room) => room.extends?.[record.luaName]));
  return Object.keys(extra).length === 0 ? record : record.extended(extra);
}

function unique<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const one of all) {
    if (found.has(nameOf(one))) throw new Error(`${nameOf(one)} is declared twice`);
    found.set(nameOf(one), one);
  }
  return found;
}
