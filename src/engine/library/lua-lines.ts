import { originOf } from './source.ts';

const mark = / --@(\d+):(\d*)$/;

/** The source of each line of a library. Until the text is complete, each line carries its source as a comment at its end. */
export class LuaLines {
  readonly #paths: string[] = [];

  /** Marks the lines of a text with their file and, if `lines` has them, their line numbers. */
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

  /** Removes the marks. `origins` has the source of each line: `lua/mailbox/send.lua:12`. */
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

/** Replaces line numbers of the library in a message of Redis by source files and lines. */
export function located(message: string, origins: readonly string[]): string {
  return message.replace(/@?user_function: ?(\d+)/g, (place, line: string) => origins[Number(line) - 1] || place);
}
