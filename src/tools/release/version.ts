import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ofJson = /^ {2}"version": "(.*)"/gm;
const manifests: Readonly<Record<string, RegExp>> = {
  'package.json': ofJson,
  'package-lock.json': /^ +"name": "muster-(?:server|client)",\n +"version": "(.*)"/gm,
  'src/clients/typescript/package.json': ofJson,
  'src/clients/python/pyproject.toml': /^version = "(.*)"$/gm,
  'docs/plugins/claude-code/.claude-plugin/plugin.json': ofJson,
};
/** The versions of a chart and of the program in it. */
const ofChart = /^(?:appV|v)ersion: "?([\d.]+)"?$/gm;
/** Names of released files, and of an image with its tag. */
const named = /\bmuster(?:[-_](?:server|client|image)-|:)(\d+\.\d+\.\d+)/g;

/** The files that people read before they install something. */
function pages(root: string): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = docs.filter((name) => /\.(md|yaml|service)$/.test(name)).map((name) => `docs/${name}`);
  return ['README.md', 'src/clients/typescript/README.md', 'src/clients/python/README.md', ...names];
}

/** Every mention of the release's version in a file: `[path, version]`. */
export function versionsIn(root: string): [path: string, version: string][] {
  const formOf = (path: string) => (path.endsWith('Chart.yaml') ? ofChart : named);
  const places = [...Object.entries(manifests), ...pages(root).map((path) => [path, formOf(path)] as const)];
  return places.flatMap(([path, form]) => {
    const found = [...readFileSync(join(root, path), 'utf8').matchAll(form)];
    if (found.length === 0 && form !== named) throw new Error(`${path} has no version`);
    return found.map(([, version = '']): [string, string] => [path, version]);
  });
}

/** The one version that all files name; it is the tag's, if there is a tag. */
export function versionOf(root: string, tag?: string): string {
  const versions = versionsIn(root);
  const wanted = tag?.replace(/^v/, '') ?? versions[0]?.[1] ?? '';
  for (const [path, version] of versions)
    if (version !== wanted) throw new Error(`${path} has version ${version}, not ${wanted}`);
  return wanted;
}

/** The changelog's section of a version. */
export function notesOf(root: string, version: string): string {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = sections.find((one) => one.startsWith(`[${version}] - `));
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (!notes) throw new Error(`CHANGELOG.md has no section "## [${version}] - <date>" with a text`);
  return `${notes}\n`;
}
