import { groups, pathOf, sourcePathOf } from '../pages.ts';
import { escapeHtml } from './highlight.ts';
import { between } from './links.ts';
import type { Rendered } from './markdown.ts';

export interface Page extends Rendered {
  readonly file: string;
  readonly path: string;
  readonly source: string;
}

const files = groups.flatMap((group) => group.files);
const reference = '/docs/api';

const link = (at: string, to: string, text: string, attributes = ''): string =>
  `<a href="${between(at, to)}"${at === to ? ' aria-current="page"' : ''}${attributes}>${text}</a>`;

export function navigation(at: string, pages: ReadonlyMap<string, Page>, current?: Page): string {
  // On narrow screens the headings are listed below the page's name.
  const within = current ? headingsOf(current, 'within') : '';
  const item = (path: string, title: string) =>
    `<li>${link(at, path, title)}${path === current?.path ? within : ''}</li>`;
  const lists = groups.map(({ title, files }, n) => {
    const items = files.map((file) =>
      item(pathOf(file), pathOf(file) === '/docs' ? 'Overview' : escapeHtml(pages.get(file)?.title ?? '')),
    );
    if (n === groups.length - 1) items.unshift(item(reference, 'API reference'));
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  });
  return `<nav id="pages" popover aria-label="Pages">\n${lists.join('\n')}\n</nav>`;
}

function contents(page: Page): string {
  const list = headingsOf(page, 'headings');
  return list === '' ? '' : `<nav id="contents" aria-label="On this page"><h2>On this page</h2>${list}</nav>`;
}

function headingsOf({ headings }: Page, kind: string): string {
  const listed = headings.filter(({ depth }) => depth <= 3);
  if (listed.length < 2) return '';
  const items = listed.map(
    ({ depth, id, title }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  );
  return `<ul class="${kind}">\n${items.join('\n')}\n</ul>`;
}

function neighbours({ file, path }: Page, pages: ReadonlyMap<string, Page>): string {
  const index = files.indexOf(file);
  const to = (other: string | undefined, rel: 'prev' | 'next') => {
    const page = other === undefined ? undefined : pages.get(other);
    if (!page) return '';
    const title = rel === 'prev' ? `← ${escapeHtml(page.title)}` : `${escapeHtml(page.title)} →`;
    return link(path, page.path, title, ` rel="${rel}"`);
  };
  return `<nav id="neighbours" aria-label="Previous and next">${to(files[index - 1], 'prev')}${to(files[index + 1], 'next')}</nav>`;
}

/** The head and the top bar of a page. */
export function opening(at: string, title: string, description: string, extra = ''): string {
  const to = (path: string) => between(at, path);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="${to('/console/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to('/docs/docs.css')}">
<script type="module" src="${to('/docs/docs.js')}"></script>
${extra}</head>
<body>
<a id="skip" href="#content">Skip to the content</a>
<header>
<p class="brand">${link(at, '/docs', 'Muster <span>docs</span>').replace(' aria-current="page"', '')}</p>
<button type="button" id="menu" popovertarget="pages">Pages</button>
<form id="search" role="search" hidden>
<input type="search" id="query" aria-label="Search the documentation" placeholder="Search ( / )" autocomplete="off" spellcheck="false" aria-controls="results">
<div id="results" hidden><p role="status"></p><ol></ol></div>
</form>
<p class="links">${link(at, reference, 'API')} ${link(at, '/console', 'Console')}</p>
</header>
`;
}

export function frame(page: Page, pages: ReadonlyMap<string, Page>): string {
  const title = page.path === '/docs' ? 'Muster: documentation' : `${page.title} · Muster`;
  return `${opening(page.path, title, page.summary)}<div id="columns">
${navigation(page.path, pages, page)}
<main id="content" tabindex="-1">
${contents(page)}
<article>
${page.html}</article>
${neighbours(page, pages)}
<footer><p><a href="${between(page.path, sourcePathOf(page.file))}">This page as Markdown</a></p></footer>
</main>
</div>
</body>
</html>
`;
}
