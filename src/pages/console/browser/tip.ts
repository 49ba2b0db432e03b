import { byId, setText } from './dom.ts';
import { momentText } from './format.ts';

/** Between the text and its tip, in pixels. */
const gap = 6;

const times = 'time[data-ticks]';

/** The moments that a node shows relatively: its own, or those of the row that it is in. */
function momentsNear(node: Element, isFocus: boolean): readonly HTMLTimeElement[] {
  const own = node.closest<HTMLTimeElement>(times);
  if (own) return [own];
  const row = isFocus ? node.closest('tr, li') : null;
  return row ? [...row.querySelectorAll<HTMLTimeElement>(times)] : [];
}

function labelOf(time: HTMLTimeElement): string {
  const label = time.closest<HTMLElement>('[data-label]')?.dataset['label'];
  return label === undefined ? '' : `${label}: `;
}

function show(found: readonly HTMLTimeElement[]): void {
  const tip = byId('tip');
  const [first] = found;
  tip.hidden = first === undefined;
  if (!first) return;
  const isOne = found.length === 1;
  setText(tip, found.map((time) => `${isOne ? '' : labelOf(time)}${momentText(time.dateTime)}`).join('; '));
  const { left, bottom, top } = first.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const isBelow = bottom + gap + height <= innerHeight;
  tip.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`;
  tip.style.top = `${isBelow ? bottom + gap : top - gap - height}px`;
}

/** Shows the exact moment of a relative time under the pointer, at a touch, and with the focus on it or in its row. */
export function startTips(): void {
  const near = (isFocus: boolean) => (event: Event) => {
    if (event.target instanceof Element) show(momentsNear(event.target, isFocus));
  };
  addEventListener('pointerover', near(false));
  addEventListener('click', near(false));
  addEventListener('focusin', near(true));
  const hide = (): void => show([]);
  for (const end of ['focusout', 'scroll', 'hashchange']) addEventListener(end, hide, true);
  addEventListener('keydown', ({ key }) => key === 'Escape' && hide());
}
