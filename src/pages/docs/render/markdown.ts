import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml, highlight } from './highlight.ts';
import { anchorOf, between, type Links, places } from './links.ts';

export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly title: string;
}

/** The searchable text below a heading, or of a paragraph that starts with a bold title. */
export interface Section {
  readonly heading: Heading | undefined;
  text: string;
}

/** A page without the common frame. */
export interface Rendered {
  readonly title: string;
  /** The first sentence. */
  readonly summary: string;
  readonly html: string;
  /** Below the title. */
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (all, name) => entities[name] ?? all);

/** The visible text, without markup. */
function plain(token: Token): string {
  const { type, raw, text, tokens, items, header, rows } = token as Tokens.Generic;
  if (type === 'table') {
    const lines = [header, ...rows] as Tokens.TableCell[][];
    return lines.map((line) => line.map((cell) => plainOf(cell.tokens)).join(' ')).join('\n');
  }
  if (items) return items.map((item: Token) => plain(item)).join('\n');
  if (tokens) return plainOf(tokens) + (type === 'paragraph' || type === 'list_item' ? '\n' : '');
  return type === 'br' || type === 'space' ? ' ' : decoded(text ?? raw ?? '');
}

const plainOf = (tokens: readonly Token[]): string => tokens.map(plain).join('');

/** The words in bold at the start of a recipe or list item, its title. */
function leadOf(token: Token): string | undefined {
  const [first] = ('tokens' in token && token.tokens) || [];
  if (first?.type === 'text') return leadOf(first);
  return first?.type === 'strong' ? plain(first).replace(/[.:,]$/, '') : undefined;
}

/** A page's Markdown as HTML, with the links of the site. */
export function renderMarkdown(file: string, at: string, text: string, links: Links): Rendered {
  const ids = new Map<string, number>();
  const headings: Heading[] = [];
  const idOf = (title: string): string => {
    const anchor = anchorOf(title);
    const times = ids.get(anchor) ?? 0;
    ids.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  };
  const idIn = (token: Token): string => ('id' in token ? ` id="${token.id}"` : '');
  const marked = new Marked({
    renderer: {
      heading(token) {
        const id = (token as { id?: string }).id ?? '';
        const inner = this.parser.parseInline(token.tokens);
        const text = token.depth === 1 ? inner : `<a class="anchor" href="#${id}">${inner}</a>`;
        return `<h${token.depth} id="${id}">${text}</h${token.depth}>\n`;
      },
      paragraph(token) {
        return `<p${idIn(token)}>${this.parser.parseInline(token.tokens)}</p>\n`;
      },
      listitem(token) {
        return `<li${idIn(token)}>${this.parser.parse(token.tokens)}</li>\n`;
      },
      link({ href, title, tokens }) {
        const address = escapeHtml(links.resolve(file, href, at));
        return `<a href="${address}"${title ? ` title="${escapeHtml(title)}"` : ''}>${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alternative }) {
        const image = `<img src="${escapeHtml(links.resolve(file, href, at))}" alt="${escapeHtml(alternative)}" loading="lazy">`;
        return `<span class="picture" tabindex="0">${image}</span>`;
      },
      code({ text: code, lang }) {
        // Wide code scrolls, so it must be focusable.
        const kind = lang ? ` class="${escapeHtml(lang)}"` : '';
        return `<pre tabindex="0"${kind}><code>${highlight(code, lang)}</code></pre>\n`;
      },
      codespan({ text: code }) {
        const html = `<code>${escapeHtml(code)}</code>`;
        const path = code.replace(/^GET /, '');
        return places.has(path) && path !== at ? `<a href="${between(at, path)}">${html}</a>` : html;
      },
      table({ header, rows }) {
        const line = (cells: Tokens.TableCell[], tag: string) =>
          `<tr>${cells
            .map((cell) => {
              const name = tag === 'th' && cell.text === '' ? 'td' : tag;
              const align = cell.align === 'right' ? ' class="right"' : '';
              return `<${name}${align}>${this.parser.parseInline(cell.tokens)}</${name}>`;
            })
            .join('')}</tr>\n`;
        const head = header.some(({ text: cell }) => cell !== '') ? `<thead>${line(header, 'th')}</thead>` : '';
        const body = rows.map((row) => line(row, 'td')).join('');
        return `<div class="table" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      html({ raw }) {
        if (raw.startsWith('<!--')) return '';
        throw new Error(`${file}: HTML is not for these pages: ${raw.trim()}`);
      },
    },
  });
  const tokens = marked.lexer(text);
  // Headings get their ids first, so that links can name them.
  const titled = new Map<Token, Heading>();
  const entitle = (token: Token, depth: number, title: string): Heading => {
    const heading = { depth, id: idOf(title), title };
    Object.assign(token, { id: heading.id });
    titled.set(token, heading);
    return heading;
  };
  for (const token of tokens)
    if (token.type === 'heading') headings.push(entitle(token, token['depth'], plainOf(token.tokens ?? [])));
  const sections: Section[] = [{ heading: undefined, text: '' }];
  for (const block of tokens) {
    const heading = titled.get(block);
    if (heading) {
      if (heading.depth > 1) sections.push({ heading, text: '' });
      continue;
    }
    if (block.type === 'html') continue;
    for (const token of block.type === 'list' ? (block as Tokens.List).items : [block]) {
      const lead = leadOf(token);
      if (lead !== undefined) sections.push({ heading: entitle(token, 4, lead), text: '' });
      (sections.at(-1) as Section).text += ` ${plain(token)}`;
    }
  }
  const [first] = headings;
  if (first?.depth !== 1) throw new Error(`${file} does not begin with its title`);
  for (const section of sections) section.text = section.text.replaceAll(/\s+/g, ' ').trim();
  const opening = tokens.find(({ type }) => type === 'paragraph');
  const paragraph = (opening ? plain(opening) : '').replaceAll(/\s+/g, ' ').trim();
  const [sentence = paragraph] = /^.*?[.!?](?= |$)/.exec(paragraph) ?? [];
  return {
    title: first.title,
    summary: sentence.length > 240 ? `${sentence.slice(0, sentence.lastIndexOf(' ', 240))} …` : sentence,
    html: marked.parser(tokens),
    headings: headings.slice(1),
    sections,
  };
}
