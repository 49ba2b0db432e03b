/** The index at which the bracket at `start` is closed. */
export function closingAt(lua: string, start: number): number {
  let depth = 0;
  for (let i = start; i < lua.length; i++) {
    const char = lua.charAt(i);
    if (char === "'") i = lua.indexOf("'", i + 1);
    else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char) && --depth === 0) return i;
  }
  throw new Error(`a bracket is not closed: ${lua.slice(start, start + 20)}`);
}

/** The comma-separated arguments from `start` to their closing bracket, or to the end. */
export function argumentsAt(lua: string, start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = start;
  let i = start;
  for (; i < lua.length && depth >= 0; i++) {
    const char = lua.charAt(i);
    if (char === "'") i = lua.indexOf("'", i + 1);
    else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (depth === 0 && char === ',') {
      found.push(lua.slice(from, i).trim());
      from = i + 1;
    }
  }
  const last = lua.slice(from, depth < 0 ? i - 1 : i).trim();
  return last === '' ? found : [...found, last];
}

/** The line breaks of a text. Added to its replacement, they keep the numbers of the lines below. */
export function lineBreaks(lua: string): string {
  return lua.replace(/[^\n]/g, '');
}
