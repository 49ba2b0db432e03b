/** A metric in an expression, with the labels that the expression requires of it. */
interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

const words = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
]);

/** The metrics in a PromQL expression, each with the labels in its braces and in the expression's `by (…)`. */
export function selectorsOf(expression: string): Selector[] {
  const bare = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const groups = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(','));
  const grouped = groups.map((label) => label.trim()).filter((label) => label !== 'le');
  const metrics = bare.replaceAll(/\bby \([^)]*\)/g, '');
  return [...metrics.matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/gi)]
    .filter(([, name = '', ,]) => !words.has(name))
    .filter(({ index }) => !insideBraces(metrics, index))
    .map(([, name = '', inside = '']) => ({
      name,
      labels: [...[...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label), ...grouped],
    }));
}

function insideBraces(text: string, index: number): boolean {
  return text.lastIndexOf('{', index) > text.lastIndexOf('}', index);
}
