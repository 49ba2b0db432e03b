/** The namespace of the ids, which are version 5 UUIDs (RFC 9562). */
const namespace = [0x0f, 0x6e, 0x0b, 0x5a, 0x5d, 0x0e, 0x4b, 0x6e, 0x9b, 0x3c, 0x6d, 0x75, 0x73, 0x74, 0x65, 0x72];

/**
 * The id of a name: `runId('desk', '2026-01-31')` is the same in every process and in both clients, so that everyone who
 * knows the name finds the run. Different lists of parts have different ids.
 */
export function runId(...parts: readonly [string | number, ...(string | number)[]]): string {
  // Other values have more than one text form, so one name could get several ids. NUL separates the parts.
  for (const part of parts)
    if (typeof part === 'number' ? !Number.isSafeInteger(part) : part.includes('\0'))
      throw new TypeError(`runId takes texts without NUL and whole numbers, not ${JSON.stringify(part)}`);
  const hash = sha1([...namespace, ...new TextEncoder().encode(parts.join('\0'))]);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.slice(0, 16).map((byte) => byte.toString(16).padStart(2, '0'));
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** SHA-1 (FIPS 180-4). Web Crypto has it as well, but only as a promise. */
function sha1(bytes: readonly number[]): number[] {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const block = new DataView(new ArrayBuffer(length));
  for (const [at, byte] of [...bytes, 0x80].entries()) block.setUint8(at, byte);
  block.setUint32(length - 4, bytes.length * 8);
  const turn = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
  const state: [number, number, number, number, number] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let start = 0; start < length; start += 64) {
    const words = Array.from({ length: 16 }, (_, at) => block.getInt32(start + at * 4));
    const word = (at: number): number => words[at] ?? 0;
    for (let at = 16; at < 80; at++) words.push(turn(word(at - 3) ^ word(at - 8) ^ word(at - 14) ^ word(at - 16), 1));
    let [a, b, c, d, e] = state;
    for (let at = 0; at < 80; at++) {
      const mixed =
        at < 20
          ? ((b & c) | (~b & d)) + 0x5a827999
          : at < 40
            ? (b ^ c ^ d) + 0x6ed9eba1
            : at < 60
              ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
              : (b ^ c ^ d) + 0xca62c1d6;
      [a, b, c, d, e] = [(turn(a, 5) + mixed + e + word(at)) | 0, a, turn(b, 30), c, d];
    }
    for (const [at, value] of [a, b, c, d, e].entries()) state[at] = ((state[at] ?? 0) + value) | 0;
  }
  return state.flatMap((value) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
}
