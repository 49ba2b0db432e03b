import table from './values.json' with { type: 'json' };

type Part = string | readonly [text: string, times: number];

/** A value that somebody may send. */
export interface Value {
  readonly name: string;
  /** Its JSON text, or the parts of it. */
  readonly json: string | readonly Part[];
  /** The same doubles in fewer digits. */
  readonly short?: string;
  /** The languages that cannot hold it. */
  readonly unreadable?: readonly string[];
  /** The languages that cannot send back what they have read. */
  readonly unsendable?: readonly string[];
}

export const values = table.values as unknown as readonly Value[];

export function textOf({ json }: Value): string {
  if (typeof json === 'string') return json;
  return json.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join('');
}

/** A JSON text with each number as its digits and its power of ten, so that equal values have equal texts. */
export function canonical(text: string): string {
  const numbered = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"')) return token;
    const [, sign = '', whole = '', fraction = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(token) ?? [];
    const digits = BigInt(whole + fraction).toString();
    const short = digits.replace(/0+$/, '');
    const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length);
    return short === '' ? '"number 0"' : `"number ${sign}${short}e${power}"`;
  });
  return JSON.stringify(JSON.parse(numbered));
}
