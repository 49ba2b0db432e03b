import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of scopes and runs mean. */
export const scopeGlossary: Glossary = {
  scopeId: "the scope's id: a run, or a part of one; null: of no scope",
  parentScopeId: 'the scope that it is below; null: it is a run of its own',
  live: 'how much has not ended, in the scope and all below it',
  scope: 'the scope itself',
  done: 'whether nothing live is left',
  'CancelledRun.cancelled': 'how much the cancel has ended so far',
};
