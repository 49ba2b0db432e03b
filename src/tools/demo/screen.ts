import { styleText } from 'node:util';

const out = process.stdout;
const isLive = out.isTTY && process.env['TERM'] !== 'dumb';
const startedAt = performance.now();

/** Time since the start: 0:07. */
export function clock(): string {
  const seconds = Math.floor((performance.now() - startedAt) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export const style = (...[format, text]: Parameters<typeof styleText>): string =>
  isLive ? styleText(format, text, { validateStream: false }) : text;

export function log(topic: string, text: string): void {
  out.write(`${clock()}  ${style('cyan', topic.padEnd(8))} ${text}\n`);
}
