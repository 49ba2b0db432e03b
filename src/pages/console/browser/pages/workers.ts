import { pools } from '../panels/pools.ts';
import { receiversPanel } from '../panels/receivers.ts';
import { allowances } from '../panels/resources.ts';
import { staffing, workers } from '../panels/workers.ts';
import { section } from '../parts.ts';
import type { Page } from './page.ts';

/** Who works: what each worker holds and since when, who waits for a message, and which mailboxes have workers. Allowances and pools are read for their names. */
export function workersPage(): Page {
  const receivers = receiversPanel();
  return {
    title: 'Workers',
    content: [
      section('What each holds', workers.id),
      section('Who waits for a message', receivers.id),
      section('Mailboxes with work', staffing.id),
    ],
    panels: [workers, receivers, staffing, allowances, pools],
  };
}
