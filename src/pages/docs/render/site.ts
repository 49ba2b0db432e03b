import { readdirSync, readFileSync, statSync } from 'node:fs';
import { groups, pathOf, slugOf, sourcePathOf } from '../pages.ts';
import { frame, type Page } from './frame.ts';
import { between, Links, repository } from './links.ts';
import { renderMarkdown } from './markdown.ts';

/** A call in the search's index. */
export interface FoundCall {
  readonly name: string;
  readonly text: string;
  readonly anchor: string;
}

const read = (file: string): string => readFileSync(repository + file, 'utf8');

/** A folder of programs as a page. */
function programs(folder: string): string {
  const names = readdirSync(repository + folder).filter((name) => /\.(ts|py)$/.test(name));
  const parts = names.map((name) => {
    const language = name.replace(/^.*\./, '');
    return `## ${name}\n\n\`\`\`${language}\n${read(`${folder}/${name}`).trim()}\n\`\`\`\n`;
  });
  return `# Programs\n\nWhole programs of some forty lines, in TypeScript and in Python. The test suite runs each of them as it stands here.\n\n${parts.join('\n')}`;
}

/** All files of `/docs` by path: pages, their Markdown, linked files, the search's index, and llms.txt. */
export function renderSite(calls: readonly FoundCall[]): Map<string, string | Buffer> {
  const links = new Links();
  const pages = new Map<string, Page>();
  for (const file of groups.flatMap((group) => group.files)) {
    const isFolder = statSync(repository + file).isDirectory();
    const text = isFolder ? programs(file) : read(file);
    if (isFolder) for (const name of readdirSync(repository + file)) links.serve(`${file}/${name}`);
    const path = pathOf(file);
    const source = links.source(file, text);
    pages.set(file, { ...renderMarkdown(file, path, text, links), file, path, source });
  }
  const out = new Map<string, string | Buffer>();
  for (const page of pages.values()) {
    out.set(`/docs/${slugOf(page.file) || 'index'}.html`, frame(page, pages));
    out.set(sourcePathOf(page.file), page.source);
  }
  for (const [path, file] of links.files) out.set(path, readFileSync(repository + file));
  out.set('/docs/search.json', searchIndex([...pages.values()], calls));
  out.set('/docs/llms.txt', listed(pages));
  out.set('/docs/llms-full.txt', `${[...pages.values()].map(({ source }) => source.trim()).join('\n\n---\n\n')}\n`);
  return out;
}

/** Sections as [address, page, heading, text]; addresses are relative to /docs/. */
function searchIndex(pages: readonly Page[], calls: readonly FoundCall[]): string {
  const sections = pages.flatMap(({ path, title, sections }) =>
    sections.map(({ heading, text }) => {
      const address = between('/docs/search.json', path) + (heading ? `#${heading.id}` : '');
      return [address, title, heading?.title ?? '', text];
    }),
  );
  return JSON.stringify([...sections, ...calls.map(({ name, text, anchor }) => [`api${anchor}`, 'API', name, text])]);
}

/** The list of pages for language models, in the format of llmstxt.org. */
function listed(pages: ReadonlyMap<string, Page>): string {
  const at = '/llms.txt';
  const parts = groups.map(({ title, files }) => {
    const lines = files.map((file) => {
      const page = pages.get(file);
      return `- [${page?.title}](${between(at, sourcePathOf(file))}): ${page?.summary}`;
    });
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const api =
    '## API\n\n- [OpenAPI 3.1](openapi.json): Every path, field, status and error code\n- [All pages in one](llms-full.txt): Everything that is listed here\n';
  return `# Muster\n\n> ${pages.get('README.md')?.summary}\n\n${parts.join('\n')}\n${api}`;
}
