/** Whether one stream id comes before another. Their numbers may exceed JavaScript's safe integers. */
export function isBefore(a: string, b: string): boolean {
  const [ms = '', number = ''] = a.split('-');
  const [otherMs = '', other = ''] = b.split('-');
  return ms === otherMs ? isLess(number, other) : isLess(ms, otherMs);
}

function isLess(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

export function timeOf(entryId: string): number {
  return Number(entryId.split('-', 1)[0]);
}
