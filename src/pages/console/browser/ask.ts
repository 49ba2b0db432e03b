import { type Api, Failure } from './api.ts';
import { byId, el, html, setText } from './dom.ts';

/** A value that the user enters with the confirmation. */
export interface AskField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly isNumber?: true;
  /** The problem with a value; '' if there is none. */
  readonly check?: (value: string) => string;
}

/** The confirmation asked for before an action. */
export interface Ask {
  /** `Cancel this message?` */
  readonly title: string;
  /** The effect and its object, whether it can be undone, and the cost. */
  readonly lines: readonly string[];
  readonly fields?: readonly AskField[];
  /** The text of the button that confirms. */
  readonly confirm: string;
  /** Performs the action and resolves to a text that says what was done. `report` shows the progress. */
  readonly act: (values: Readonly<Record<string, string>>, report: (text: string) => void) => Promise<string>;
}

/** The cost of most actions. */
export const once = 'It counts as one operation.';

/** The data attributes of a button, which name the object that it acts on. */
export type Target = Readonly<Record<string, string | undefined>>;

/** Reads the object that a button acts on, and builds the confirmation. */
export type Action = (api: Api, target: Target) => Promise<Ask>;

/**
 * Asks in a dialog, acts when confirmed, and shows there what was done. After a refusal the dialog stays open with the
 * values entered. Resolves to whether the action was attempted.
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
    setText(problem, wrong ?? '');
    if (wrong !== undefined) return;
    const controls = [...inputs.map(({ input }) => input), yes];
    for (const node of controls) node.disabled = true;
    setText(said, 'Working…');
    no.focus();
    no.disabled = true;
    hasActed = true;
    try {
      setText(said, await act(values, (text) => setText(said, text)));
    } catch (error) {
      setText(said, '');
      setText(problem, error instanceof Failure ? error.text : String(error));
      if (error instanceof Failure && error.isRefusal) {
        for (const node of [...controls, no]) node.disabled = false;
        controls[0]?.focus();
        return;
      }
    }
    yes.remove();
    no.disabled = false;
    setText(no, 'Close');
    no.focus();
  };
  return new Promise((resolve) => {
    // The browser never sends the form, and a second submit while it acts is ignored.
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
