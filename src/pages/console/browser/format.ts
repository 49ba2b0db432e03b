/** Formats minor units exactly: `123456` at scale 2 is `1,234.56`. */
export function money(minor: string, scale: number): string {
  const digits = minor.padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale).replace(/\B(?=(\d{3})+$)/g, ',');
  return scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`;
}

/** A share in percent with two decimals, exact for amounts of 18 digits. */
export function percent(part: string | number, whole: string | number): number {
  const all = BigInt(whole);
  return all === 0n ? 0 : Number((BigInt(part) * 10_000n) / all) / 100;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];

/** A duration in its two largest units: `2 h 5 m`. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const first = units.findIndex(([, size]) => rest >= size);
  if (first === -1) return '0 s';
  const words: string[] = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${name}`);
  }
  return words.join(' ');
}

/** An id short enough for a table. Ids made at the same time begin alike, so the end is shown too. */
export function shortId(id: string): string {
  return `${id.slice(0, 8)}…${id.slice(-6)}`;
}

export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 unit`, `2 units`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `N_ACCEPTED` as words: `n accepted`. */
export function words(state: string): string {
  return state.toLowerCase().replaceAll('_', ' ');
}

/** An error text without the parts that differ between messages: ids and numbers. */
export function alike(error: string): string {
  return error
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…')
    .replace(/\b(0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{6,})\b/gi, '…')
    .replace(/\d+([.,:]\d+)*/g, '…');
}

/** The time zone in which moments are shown; undefined for the browser's. */
export const shownZone: { name: string | undefined } = { name: undefined };

/** A moment with date and time zone, in the zone that the viewer has chosen: `2026-01-31 13:00:00 UTC+01:00`. */
export function momentText(moment: string | number): string {
  const of = partsOf(moment, shownZone.name);
  const offset = of('timeZoneName').replace('GMT', 'UTC').replace('+00:00', '');
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${offset}`;
}

/** A moment by the clock of another zone: `Mon 2026-02-02 09:00:00`. */
export function momentIn(moment: string, timeZone: string): string {
  const of = partsOf(moment, timeZone);
  return `${of('weekday')} ${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')}`;
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** The parts of a moment by the clock of a zone; undefined for the browser's. */
function partsOf(moment: string | number, timeZone: string | undefined): (type: string) => string {
  const day = { weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  let format = formats.get(timeZone);
  // The formats of years are the same in all languages here.
  format ??= new Intl.DateTimeFormat('en', { timeZone, ...day, ...clock, timeZoneName: 'longOffset' });
  formats.set(timeZone, format);
  const parts = format.formatToParts(new Date(moment));
  return (type) => parts.find((part) => part.type === type)?.value ?? '';
}
