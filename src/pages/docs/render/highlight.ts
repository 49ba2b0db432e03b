const keywords = {
  script:
    'as async await break case catch class const continue default else export extends false finally for from function if ' +
    'import in instanceof interface let new null of readonly return satisfies static switch this throw true try type ' +
    'typeof undefined while yield',
  python:
    'and as assert async await break class continue def elif else except False finally for from global if import in is ' +
    'lambda None nonlocal not or pass raise return True try while with yield',
  lua: 'and break do else elseif end false for function if in local nil not or repeat return then true until while',
  shell: 'case do done elif else esac export fi for function if in local return then while',
  data: 'true false null',
} as const;

const kinds: Readonly<Record<string, keyof typeof keywords>> = {
  js: 'script',
  javascript: 'script',
  ts: 'script',
  typescript: 'script',
  py: 'python',
  python: 'python',
  lua: 'lua',
  bash: 'shell',
  sh: 'shell',
  json: 'data',
  yaml: 'data',
};

const comments = {
  script: String.raw`\/\/.*|\/\*[^]*?\*\/`,
  python: '#.*|"""[^]*?"""',
  lua: '--.*',
  shell: String.raw`(?<=^|\s)#.*`,
  data: String.raw`(?<=^|\s)#.*`,
};

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => escapes[one] ?? one);

/** Code as HTML, with comments, strings, keywords and numbers marked. Finer distinctions would not help a reader. */
export function highlight(code: string, language = ''): string {
  const kind = kinds[language];
  if (kind === undefined) return escapeHtml(code);
  const words = keywords[kind].split(' ').join('|');
  const quoted =
    kind === 'shell' ? `"(?:[^"\\\\]|\\\\.)*"|'[^']*'` : `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\``;
  const pattern = new RegExp(`(${comments[kind]})|(${quoted})|\\b(${words})\\b|\\b(\\d[\\d_.]*)\\b`, 'gm');
  let html = '';
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [text, comment, string, word] = match;
    const name = comment !== undefined ? 'c' : string !== undefined ? 's' : word !== undefined ? 'k' : 'n';
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${name}">${escapeHtml(text)}</span>`;
    end = match.index + text.length;
  }
  return html + escapeHtml(code.slice(end));
}
