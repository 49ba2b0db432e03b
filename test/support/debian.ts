import { fileURLToPath } from 'node:url';
import { findProgram, type Program, type ProgramKind } from '../../src/external-programs/find.ts';

/** A program of Debian's package `label`, unless `ofPackage` names another, that prints its version as `version` says. */
export const kindOf = (
  label: string,
  path: string,
  versionFlag: string,
  version: RegExp,
  ofPackage: string = label,
): ProgramKind => ({
  label,
  wanted: label,
  variable: label.toUpperCase().replaceAll('-', '_'),
  names: [label],
  packages: [ofPackage],
  path,
  versionFlag,
  versionIn: (printed) => {
    const found = version.exec(printed)?.[1];
    if (!found) throw new Error(`its ${versionFlag} is not that of ${label}`);
    return found;
  },
  whatToDo: `install ${ofPackage}, or set ${label.toUpperCase().replaceAll('-', '_')} to its program`,
});

/** The installed one, or one downloaded into a folder of the project. */
export function findInstalled(kind: ProgramKind): Promise<Program> {
  const log = (line: string): void => console.log(`    ${line}`);
  const [name = ''] = kind.packages;
  const folder = fileURLToPath(new URL(`../../.${name}`, import.meta.url));
  return findProgram(kind, { log, env: process.env, folder });
}
