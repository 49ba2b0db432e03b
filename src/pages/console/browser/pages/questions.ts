import { storeAnswerer, storedAnswerer } from '../answering.ts';
import { el, html } from '../dom.ts';
import { openQuestions } from '../panels/questions.ts';
import { queues } from '../panels/queues.ts';
import { section } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

/** The inbox: questions from workers to people. Mailboxes are read for their names. */
export function questionsPage(_place: PageRef, { can }: SpaceState): Page {
  const attributes = { id: 'answered-by', type: 'text', autocomplete: 'name', maxlength: '256' };
  const input = html<HTMLInputElement>('input', attributes);
  input.value = storedAnswerer();
  input.addEventListener('input', () => storeAnswerer(input.value));
  const label = el('label', { for: 'answered-by' }, 'Your name, kept with your answers');
  const who = el('p', { class: 'field' }, label, input);
  const done = el('p', { id: 'done', role: 'status' });
  return {
    title: 'Questions',
    content: [section('Open questions, oldest first', openQuestions.id, ...(can.write ? [who, done] : []))],
    panels: [openQuestions, queues],
  };
}
