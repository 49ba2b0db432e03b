import { join, relative } from 'node:path';
import { luaRoot } from './source.ts';

const mark = / --@(\d+):(\d*)$/;

/** Where the lines of a library come from. Until its text is whole, each carries that as a remark at its end. */
export class LuaLines {
  readonly #paths: string[] = [];

  /** Marks the lines of a text with their file and, where `lines` has them, their numbers there. */
  mark(path: string, text: string, lines: readonly number[] = []): string {
    if (!this.#paths.includes(path)) this.#paths.push(path);
    const at = this.#paths.indexOf(path);
    return text
      .split('\n')
      .map((line, index) =>
        line === '' && lines[index] === undefined ? line : `${line} --@${at}:${lines[index] ?? ''}`,
      )
      .join('\n');
  }

  /** A text without the marks, and for each of its lines what the mark said: `lua/mailbox/send.lua:12`. */
  unmarked(text: string): { text: string; origins: readonly string[] } {
    const origins: string[] = [];
    const files = this.#paths.map((path) => originOf(path, 0));
    const lines = text.split('\n').map((line) => {
      const found = mark.exec(line);
      if (!found) {
        origins.push('');
        return line;
      }
      const [, at, number] = found;
      origins.push(`${files[Number(at)]}${number && ':'}${number}`);
      return line.slice(0, found.index);
    });
    return { text: lines.join('\n'), origins };
  }
}

/** A line of a file as messages name it; 0: the file. */
export function originOf(path: string, line: number): string {
  return relative(join(luaRoot, '..'), path) + (line > 0 ? `:${line}` : '');
}

/** A text of Redis with the lines of a library that it names replaced by those of their files. */
export function located(message: string, origins: readonly string[]): string {
  return message.replace(/@?user_function: ?(\d+)/g, (place, line: string) => origins[Number(line) - 1] || place);
}
