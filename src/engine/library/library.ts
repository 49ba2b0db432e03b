import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { complete, type Draft, draftOf, type Library, type LuaNames, type Overrides } from './loader.ts';

/**
 * This package's library as drafted by the build: its text, and the rest as JSON. The folder exists only beside a bundle,
 * which is never run with other words or overrides.
 */
const folder = new URL('library/', import.meta.url);
const hasDraft = existsSync(folder);

interface Known {
  readonly drafts: Map<string, Draft>;
  readonly libraries: Map<string, Library>;
}

const known = new WeakMap<LuaNames, Known>();

/** The library of a product, built on first use and shared by all services of the process. */
export function libraryOf(words: LuaNames, overrides: Overrides = {}, guard = ''): Library {
  const { drafts, libraries } = known.get(words) ?? { drafts: new Map(), libraries: new Map() };
  known.set(words, { drafts, libraries });
  const files = JSON.stringify(overrides);
  const draft = drafts.get(files) ?? (hasDraft ? readDraft() : draftOf(words, overrides));
  drafts.set(files, draft);
  const library = libraries.get(files + guard) ?? complete(draft, guard);
  libraries.set(files + guard, library);
  return library;
}

function readDraft(): Draft {
  const read = (file: string): string => readFileSync(fileURLToPath(new URL(file, folder)), 'utf8');
  return { ...(JSON.parse(read('library.json')) as Omit<Draft, 'text'>), text: read('library.lua') };
}
