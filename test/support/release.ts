import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folder, type ReleaseDirs } from '../../src/tools/release/release-dirs.ts';
import { findPython } from './python.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A dirs for a release of this checkout. The caller removes its `scratch`. */
export async function openShop(): Promise<ReleaseDirs> {
  const scratch = mkdtempSync(join(tmpdir(), 'muster-release-'));
  return { root, scratch, out: folder(scratch, 'out'), python: await findPython() };
}
