import { Raw } from '../engine/declare/raw.ts';
import { visible } from '../pages/text/visible.ts';

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw);

/** A result for people: a list of records as columns, one record as lines. */
export function table(value: unknown): string {
  if (!isRow(value)) return lines([[cell(value)]]);
  const list = Object.entries(value).find(([, field]) => Array.isArray(field) && field.every(isRow));
  if (!list) return lines(flat(value).map(([name, text]) => [name, text]));
  const [name, rows] = list as [string, readonly Row[]];
  const rest = flat(Object.fromEntries(Object.entries(value).filter(([field, one]) => field !== name && one !== null)));
  const more = rest.length === 0 ? '' : `\n${lines(rest)}`;
  return (rows.length === 0 ? `no ${words(name)}\n` : columns(rows)) + more;
}

/** Nested fields by their path: `usage.spaces`. */
function flat(value: Row, prefix = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, field]): [string, string][] =>
    isRow(field) ? flat(field, `${prefix}${name}.`) : [[`${prefix}${name}`, cell(field)]],
  );
}

/** Records in columns. A list of nested records is shown as its length; `--json` has all. */
function columns(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (name) => !rows.some((row) => isRow(row[name])),
  );
  return lines([names, ...rows.map((row) => names.map((name) => cell(row[name])))]);
}

function lines(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(shown));
  const widths: number[] = [];
  for (const row of rows) for (const [at, text] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, text.length);
  return rows
    .map(
      (row) =>
        `${row
          .map((text, at) => text.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Texts of agents must neither control the terminal nor break the rows. */
const shown = (text: string): string => visible(text.replaceAll(/[\t\r\n]+/g, ' '));

const words = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
