import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { complete, type Draft, draftOf, type Library, type Overrides, type Vocabulary } from './loader.ts';

/**
 * This package's library as drafted by the build: its text, and the rest as JSON. The folder exists only beside a bundle,
 * which is never run with other words or overrides.
 */
const folder = new URL('library/', import.meta.url);
const hasDraft = existsSync(folder);

const known = new WeakMap<Vocabulary, Map<string, Library>>();

/** The library of a product, built on first use and shared by all services of the process. */
export function libraryOf(words: Vocabulary, overrides: Overrides = {}, guard = ''): Library {
  const ofWords = known.get(words) ?? new Map<string, Library>();
  known.set(words, ofWords);
  const name = JSON.stringify([overrides, guard]);
  const library = ofWords.get(name) ?? complete(hasDraft ? readDraft() : draftOf(words, overrides), guard);
  ofWords.set(name, library);
  return library;
}

function readDraft(): Draft {
  const read = (file: string): string => readFileSync(fileURLToPath(new URL(file, folder)), 'utf8');
  return { ...(JSON.parse(read('library.json')) as Omit<Draft, 'text'>), text: read('library.lua') };
}
