import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './release-dirs.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly properties?: unknown;
}

/** The members of npm's CycloneDX document that are read or changed here. */
export interface Bill {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const npmBill = (cwd: string, ...words: string[]): Bill =>
  JSON.parse(run(cwd, 'npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', ...words]));

/** The bill of a package without dependencies. */
export const billOf = (home: string): Bill => npmBill(home);

/**
 * The bill of the server, whose package contains its dependencies: the build bundled them. npm lists them as
 * dependencies of the checkout, with origin, hash and licence.
 */
export function bundledBill(root: string, home: string): Bill {
  const [, ...bundled] = readFileSync(join(root, 'dist/.built'), 'utf8').split('\n');
  const checkout = npmBill(root, '--workspaces=false');
  const components = bundled.map((ref) => {
    const found = checkout.components.find((component) => component['bom-ref'] === ref);
    if (!found) throw new Error(`npm sbom does not list ${ref}, which is in dist/`);
    // Its properties mark it as a development dependency.
    const { properties: _, ...component } = found;
    return component;
  });
  const own = npmBill(home);
  const isKept = (ref: string) => bundled.includes(ref) || ref === own.metadata.component['bom-ref'];
  const dependencies = checkout.dependencies
    .filter(({ ref }) => isKept(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
  return { ...own, components, dependencies };
}

/** Writes a bill. The same content and timestamp give the same bytes. */
export function writeBill(path: string, name: string, timestamp: string, bill: Bill): void {
  const { metadata, components } = bill;
  // npm uses the folder's name.
  const component = { ...metadata.component, name };
  const digest = createHash('sha256')
    .update(JSON.stringify([component, components, timestamp]))
    .digest('hex');
  const uuid = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
  const settled = { ...bill, serialNumber: `urn:uuid:${uuid}`, metadata: { ...metadata, timestamp, component } };
  writeFileSync(path, `${JSON.stringify(settled, undefined, 2)}\n`);
}
