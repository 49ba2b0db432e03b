import { type Api, Failure } from './api.ts';
import { byId, el, html } from './dom.ts';

/** A value that the person gives along with the confirmation. */
export interface AskField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly isNumber?: true;
  /** The problem with a value; '' if there is none. */
  readonly check?: (value: string) => string;
}

/** What is asked once before anything is done. */
export interface Ask {
  /** `Cancel this message?` */
  readonly title: string;
  /** What it does to what, what cannot be taken back, and what it costs. */
  readonly lines: readonly string[];
  readonly fields?: readonly AskField[];
  /** On the button that does it. */
  readonly confirm: string;
  /** Does it and says what was done. `report`: how far it has come. */
  readonly act: (values: Readonly<Record<string, string>>, report: (text: string) => void) => Promise<string>;
}

/** What most actions cost. */
export const once = 'It counts as one operation.';

/** The data of a button: what it acts on. */
export type Target = Readonly<Record<string, string | undefined>>;

/** Looks at what a button acts on as it is now, and makes the question. */
export type Action = (api: Api, target: Target) => Promise<Ask>;

/**
 * Asks in a dialog, acts when confirmed, and says there what was done. After a refusal it goes on, with what was typed.
 * Resolves to whether it acted.
 */
export async function ask({ title, lines, fields = [], confirm, act }: Ask): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>('ask');
  const said = el('p', { role: 'status', id: 'ask-said' });
  const problem = el('p', { role: 'alert', class: 'problem' });
  const inputs = fields.map(({ name, label, value, isNumber }) => {
    const input = html<HTMLInputElement>('input', {
      id: `ask-${name}`,
      type: 'text',
      autocomplete: 'off',
      ...(isNumber && { inputmode: 'decimal' }),
    });
    input.value = value;
    return { label: el('label', { for: input.id }, label), input };
  });
  const no = html<HTMLButtonElement>('button', { type: 'button', autofocus: '' }, 'Leave it');
  const yes = html<HTMLButtonElement>('button', { type: 'submit' }, confirm);
  const form = html<HTMLFormElement>(
    'form',
    { novalidate: '' },
    ...inputs.map(({ label, input }) => el('p', { class: 'field' }, label, input)),
    problem,
    said,
    el('p', { class: 'buttons' }, no, yes),
  );
  dialog.replaceChildren(el('h2', { id: 'ask-title' }, title), ...lines.map((line) => el('p', {}, line)), form);
  let hasActed = false;
  const submit = async (): Promise<void> => {
    const values = Object.fromEntries(fields.map(({ name }, index) => [name, inputs[index]?.input.value.trim() ?? '']));
    const wrong = fields.map(({ name, check }) => check?.(values[name] ?? '') ?? '').find((text) => text !== '');
    problem.textContent = wrong ?? '';
    if (wrong !== undefined) return;
    const controls = [...inputs.map(({ input }) => input), yes];
    for (const node of controls) node.disabled = true;
    said.textContent = 'Working…';
    no.focus();
    no.disabled = true;
    hasActed = true;
    try {
      said.textContent = await act(values, (text) => {
        said.textContent = text;
      });
    } catch (error) {
      said.textContent = '';
      problem.textContent = error instanceof Failure ? error.text : String(error);
      if (error instanceof Failure && error.isRefusal) {
        for (const node of [...controls, no]) node.disabled = false;
        controls[0]?.focus();
        return;
      }
    }
    yes.remove();
    no.disabled = false;
    no.textContent = 'Close';
    no.focus();
  };
  return new Promise((resolve) => {
    // No second answer: one question is asked at a time, and a form that acts is not sent anywhere.
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!yes.disabled) void submit();
    });
    no.addEventListener('click', () => dialog.close());
    dialog.addEventListener('cancel', (event) => no.disabled && event.preventDefault());
    dialog.addEventListener('close', () => resolve(hasActed), { once: true });
    dialog.showModal();
  });
}
