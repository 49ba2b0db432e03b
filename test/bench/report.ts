export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The value below which a part of all values lies, 0 to 1. */
export function quantile(values: readonly number[], part: number): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
}

export function ratio(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || below === undefined ? undefined : above / below;
}

export function whole(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en');
}

export function fixed(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits);
}

export function millis(micros: number | undefined): string {
  return micros === undefined ? '-' : fixed(micros / 1000, 2);
}

/** Aligns the first column to the left and the numbers to the right. */
export function table(title: string, header: string[], rows: string[][]): string {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return ['', title, line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
