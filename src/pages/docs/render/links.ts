import { statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { groups, pathOf, sourcePathOf } from '../pages.ts';

export const repository = fileURLToPath(new URL('../../../../', import.meta.url));

const pages: ReadonlySet<string> = new Set(groups.flatMap(({ files }) => files));

/** Addresses of the service outside the pages: `/docs/api` in a text becomes a link. */
export const places: ReadonlySet<string> = new Set([
  '/docs',
  '/docs/api',
  '/console',
  '/openapi.json',
  '/llms.txt',
  '/llms-full.txt',
]);

/** A relative address, so that pages also work behind a proxy that adds a prefix. */
export function between(from: string, to: string): string {
  const folder = posix.relative(posix.dirname(from), posix.dirname(to));
  return posix.join(folder, posix.basename(to));
}

/** The anchor that GitHub gives a heading. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Turns links between the repository's files into links of the site, and remembers the files to serve beside the pages. */
export class Links {
  /** Paths in the repository, by the path that they are served at. */
  readonly files = new Map<string, string>();

  /** The address of a link in a file, relative to the page `at`. */
  resolve(file: string, href: string, at = pathOf(file)): string {
    if (/^(https?:|mailto:|#)/.test(href)) return href;
    const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
    const target = posix.join(posix.dirname(file), path).replace(/\/$/, '');
    const isSource = at.endsWith('.md');
    if (pages.has(target)) {
      const to = isSource ? sourcePathOf(target) : pathOf(target);
      return between(at, to) + anchor;
    }
    const isProgram = pages.has(posix.dirname(target)) && !isSource;
    // The page of a folder has a heading for each of its files.
    if (isProgram) return `${between(at, pathOf(posix.dirname(target)))}#${anchorOf(posix.basename(target))}`;
    if (!statSync(repository + target, { throwIfNoEntry: false })?.isFile())
      throw new Error(`${file} links to ${href}: it is neither a page (src/pages/docs/pages.ts) nor a file`);
    return between(at, this.serve(target)) + anchor;
  }

  /** Serves a file of the repository as it is. */
  serve(file: string): string {
    const path = file.startsWith('docs/') ? `/${file}` : `/docs/files/${file}`;
    this.files.set(path, file);
    return path;
  }

  /** A Markdown source with the site's links. */
  source(file: string, text: string): string {
    const at = sourcePathOf(file);
    return text.replaceAll(
      /\]\((?!https?:|mailto:|#)([^)\s]+)\)/g,
      (_, href: string) => `](${this.resolve(file, href, at)})`,
    );
  }
}
