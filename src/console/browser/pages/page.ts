import type { Panel } from '../panels/panel.ts';

/** What the console shows at a place. */
export interface Page {
  /** Of the document and the heading. */
  readonly title: string;
  /** After the title in the heading: an id, in full. */
  readonly id?: string;
  /** Made once; panels fill the elements with their ids. */
  readonly content: readonly Node[];
  readonly panels: readonly Panel[];
  /** Below the page: the live journal of the space (''), of a run and what is below it, or none. */
  readonly journalOf?: string;
  /** Of these types alone; the page is about the journal. */
  readonly journalTypes?: string | undefined;
}
