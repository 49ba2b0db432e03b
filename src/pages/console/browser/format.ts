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

/** A moment with date and time zone, in the viewer's zone: `2026-01-31 13:00:00 UTC+01:00`. */
export function momentText(moment: string | number): string {
  const at = new Date(moment);
  const two = (value: number): string => String(value).padStart(2, '0');
  const ahead = -at.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  const zone = ahead === 0 ? 'UTC' : `UTC${ahead < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} ${zone}`;
}
