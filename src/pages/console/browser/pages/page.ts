import type { Panel } from '../panels/panel.ts';

/** A page of the console. */
export interface Page {
  /** The title of the document and of the heading. */
  readonly title: string;
  /** The full id that follows the title in the heading. */
  readonly id?: string;
  /** Built once. Each panel then fills the element that has its id. */
  readonly content: readonly Node[];
  readonly panels: readonly Panel[];
  /** The live journal below the page: '' for the space's, the id of a run for its subtree's, undefined for none. */
  readonly journalOf?: string;
  /** The event types that the journal shows; undefined for all. */
  readonly journalTypes?: string | undefined;
}
