import { byId, el, html, setText } from '../dom.ts';
import { address, isUuid, type PageRef } from '../place.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  /** The value must be a UUID. */
  readonly isId?: true;
  /** Instead of filtering, open this page for the object with the given id. */
  readonly leadsTo?: string;
  /** The values to choose from. The first one means no filter. */
  readonly options?: readonly (readonly [value: string, text: string])[];
}

/** A form for filters, which become part of the page's address. Other filters stay; lists go back to the first page. */
export function searchForm(place: PageRef, fields: readonly Field[], lists = ['cursor']): HTMLElement {
  const problem = el('p', { class: 'problem', role: 'alert', id: 'search-problem' });
  const inputs = fields.map((field) => {
    const common = { id: `search-${field.name}`, 'aria-describedby': 'search-problem' };
    const input = field.options
      ? html<HTMLSelectElement>(
          'select',
          common,
          ...field.options.map(([value, text]) => el('option', { value }, text)),
        )
      : html<HTMLInputElement>('input', {
          ...common,
          type: 'text',
          autocomplete: 'off',
          spellcheck: 'false',
          autocapitalize: 'none',
        });
    input.value = place.query.get(field.name) ?? field.options?.[0]?.[0] ?? '';
    return { field, input };
  });
  const form = html<HTMLFormElement>(
    'form',
    { class: 'search', novalidate: '', role: 'search' },
    ...inputs.map(({ field, input }) =>
      el('p', { class: 'field' }, el('label', { for: input.id }, field.label), input),
    ),
    el('p', {}, el('button', { type: 'submit' }, 'Find')),
    problem,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { spaceId = '', page, id, query } = place;
    const wanted: Record<string, string | undefined> = Object.fromEntries(query);
    for (const list of lists) wanted[list] = undefined;
    for (const { field, input } of inputs) {
      const text = field.isId ? input.value.trim().toLowerCase() : input.value;
      if (field.isId && text !== '' && !isUuid(text)) {
        setText(problem, `${field.label}: enter a UUID.`);
        byId(input.id).focus();
        return;
      }
      if (field.leadsTo !== undefined && text !== '') {
        location.hash = address(spaceId, `${field.leadsTo}/${text}`);
        return;
      }
      wanted[field.name] = field.leadsTo === undefined ? text : undefined;
    }
    location.hash = address(spaceId, id === undefined ? page : `${page}/${id}`, wanted);
  });
  return form;
}
