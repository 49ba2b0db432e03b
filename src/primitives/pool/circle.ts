/** A link in a circle of holders that wait for one another, as lua/pool/_circle names them. */
interface Link {
  readonly holder: string;
  readonly session: string;
  readonly pool: string;
  /** Why it waits: the next link holds units of that pool, or is ahead in its queue. */
  readonly reason: 'HOLDS' | 'AHEAD';
}

const width = 4;

function linksOf(detail: string): Link[] {
  const words = detail.split('\t');
  return Array.from({ length: Math.floor(words.length / width) }, (_, index) => {
    const [holder = '', session = '', pool = '', reason = ''] = words.slice(index * width, (index + 1) * width);
    return { holder, session, pool, reason: reason === 'AHEAD' ? 'AHEAD' : 'HOLDS' };
  });
}

const nameOf = ({ holder, session }: Link): string => `${holder} (${session})`;

/**
 * Describes the circle. The first link is the caller. The last one repeats an earlier link, without a pool: it closes
 * the circle.
 */
export function circleInWords(detail: string): string {
  const links = linksOf(detail);
  const steps = links.slice(0, -1).map((link, index) => {
    const next = links[index + 1] as Link;
    const verb = index === 0 ? 'would wait' : 'waits';
    const why = link.reason === 'HOLDS' ? `which ${nameOf(next)} holds` : `for which ${nameOf(next)} waits before it`;
    return `${nameOf(link)} ${verb} for ${link.pool}, ${why}`;
  });
  const circle = steps.length > 0 ? steps.join('; ') : '…';
  return `waiting would never end, since these wait for one another: ${circle}. Release what you hold first`;
}
