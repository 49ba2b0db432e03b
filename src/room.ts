import type { EventDeclaration } from './declare/event.ts';
import type { Fields } from './declare/field.ts';
import type { RecordDeclaration } from './declare/record.ts';
import { commonErrors, type ErrorTable } from './http/errors.ts';
import type { Route } from './http/route.ts';
import type { KeyTable } from './redis/keys.ts';
import type { Vocabulary } from './redis/loader.ts';

/** A limit of a space, which its operator sets. */
export interface Limit {
  readonly min: number;
  readonly max: number;
  readonly default: number;
  /** The plan grants it, never more than `max`: more is refused by the plan's error, not by shape. */
  readonly isGranted?: true;
}

export type Limits = Readonly<Record<string, Limit>>;

/** What each room has a part in. */
export interface Parts {
  readonly records: readonly RecordDeclaration[];
  readonly events: readonly EventDeclaration[];
  /** Members of the census, the backlog, the waits and the view of a run. */
  readonly census: Fields;
  readonly backlog: Fields;
  readonly waits: Fields;
  readonly inRun: Fields;
  readonly limits: Limits;
}

/** A primitive: everything that the rest of the product knows of it. */
export interface Room extends Partial<Omit<Parts, 'events'>> {
  /** The name of its folders in lua/, src/ and test/spec/. */
  readonly name: string;
  /** Where its Lua is, if not in lua/<name>. */
  readonly lua?: string;
  /** Of rooms that show what the others have, made of that. */
  readonly routes?: readonly Route[] | ((all: Parts) => readonly Route[]);
  /** Those of no space: their paths are below /v1/spaces. */
  readonly spacelessRoutes?: readonly Route[];
  /** Of the space's room: made of the limits of all. */
  readonly events?: readonly EventDeclaration[] | ((limits: Limits) => readonly EventDeclaration[]);
  readonly keys?: KeyTable;
  readonly errors?: ErrorTable;
  /** Fields that it keeps in records of other rooms, by the names of these in scripts; in no answer. */
  readonly extends?: Readonly<Record<string, Fields>>;
}

/** What rooms declare, put together. */
export interface Product extends Parts {
  readonly routes: readonly Route[];
  readonly spacelessRoutes: readonly Route[];
  readonly errors: ErrorTable;
  readonly words: Vocabulary;
}

/** Puts rooms together. Throws where two of them use a name for different things. */
export function collect(rooms: readonly Room[]): Product {
  const merged = <T>(of: (room: Room) => Readonly<Record<string, T>> | undefined): Readonly<Record<string, T>> =>
    Object.fromEntries(
      unique(
        rooms.flatMap((room) => Object.entries(of(room) ?? {})),
        ([name]) => name,
      ).values(),
    );
  const limits = merged((room) => room.limits);
  const parts: Parts = {
    records: rooms.flatMap((room) => room.records ?? []).map((record) => extended(record, rooms)),
    events: rooms.flatMap(({ events = [] }) => (typeof events === 'function' ? events(limits) : events)),
    census: merged((room) => room.census),
    backlog: merged((room) => room.backlog),
    waits: merged((room) => room.waits),
    inRun: merged((room) => room.inRun),
    limits,
  };
  const words: Vocabulary = {
    keys: merged((room) => room.keys),
    records: unique(parts.records, ({ luaName }) => luaName),
    events: unique(parts.events, ({ type }) => type),
    folders: merged(({ name, lua }) => (lua === undefined ? {} : { [name]: lua })),
  };
  return {
    ...parts,
    routes: rooms.flatMap(({ routes = [] }) => (typeof routes === 'function' ? routes(parts) : routes)),
    spacelessRoutes: rooms.flatMap(({ spacelessRoutes = [] }) => spacelessRoutes),
    errors: { ...commonErrors, ...merged((room) => room.errors) },
    words,
  };
}

/** A record with the fields that other rooms keep in it. */
function extended(record: RecordDeclaration, rooms: readonly Room[]): RecordDeclaration {
  const own: Fields = Object.assign({}, ...rooms.map((room) => room.extends?.[record.luaName]));
  return Object.keys(own).length === 0 ? record : record.extended(own);
}

function unique<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const one of all) {
    if (found.has(nameOf(one))) throw new Error(`${nameOf(one)} is declared twice`);
    found.set(nameOf(one), one);
  }
  return found;
}
