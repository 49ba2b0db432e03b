import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOf, bundledBill, writeBill } from './bill.ts';
import { imageContext } from './image.ts';
import { npmPackage, pythonPackages } from './packages.ts';
import { type ReleaseDirs, run } from './release-dirs.ts';
import { notesOf, versionOf } from './version.ts';

/** The paths of the files of a release. */
export interface Release {
  readonly version: string;
  readonly server: string;
  readonly client: string;
  readonly wheel: string;
  readonly sdist: string;
  readonly image: string;
  /** The text of SHA256SUMS. */
  readonly sums: string;
}

/** Makes all files of a release. The same commit gives the same bytes. */
export function make(dirs: ReleaseDirs, tag?: string): Release {
  const { root, out } = dirs;
  const version = versionOf(root, tag);
  writeFileSync(join(out, 'notes.md'), notesOf(root, version));
  run(root, process.execPath, ['src/tools/build/build.mjs']);
  const timestamp = new Date(run(root, 'git', ['log', '-1', '--format=%cI']).trim()).toISOString();
  const server = npmPackage(dirs, 'server', root);
  const client = npmPackage(dirs, 'client', join(root, 'src/clients/typescript'));
  const bill = (name: string) => join(out, `${name}-${version}.cdx.json`);
  writeBill(bill('muster-server'), 'muster-server', timestamp, bundledBill(root, server.home));
  writeBill(bill('muster-client'), 'muster-client', timestamp, billOf(client.home));
  const python = pythonPackages(dirs);
  const image = imageContext(dirs, version, timestamp);
  return { version, server: server.file, client: client.file, ...python, image, sums: writeSums(out) };
}

/** Writes SHA256SUMS, for `sha256sum -c` in the same folder. */
function writeSums(out: string): string {
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
  const lines = readdirSync(out)
    .sort()
    .map((name) => `${digest(name)}  ${name}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
  return lines.join('');
}
