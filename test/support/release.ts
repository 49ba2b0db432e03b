import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folder, type Shop } from '../../src/tools/release/shop.ts';
import { findPython } from './python.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A shop for a release of this checkout. The caller removes its `scratch`. */
export async function openShop(): Promise<Shop> {
  const scratch = mkdtempSync(join(tmpdir(), 'muster-release-'));
  return { root, scratch, out: folder(scratch, 'out'), python: await findPython() };
}
