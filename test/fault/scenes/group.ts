import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/**
 * Task groups of three members that need two accepted; every client creates its own, and repeats the creation and one
 * submission.
 */
export class TeamScene extends Shared<string> {
  protected make(client: number): Promise<string | undefined> {
    return this.create(client, 'mailbox', '/mailboxes', { name: 'members' });
  }

  protected async use(client: number, mailboxId: string): Promise<void> {
    const { load, access } = this;
    const group = { mailboxId, condition: 'N_ACCEPTED', threshold: 2, workKey: randomUUID() };
    const created = await load.call(client, access, {
      kind: 'create group',
      object: ({ id }) => `group ${id}`,
      path: '/task-groups',
      body: group,
    });
    if (created.status >= 300) return;
    const { id, scopeId } = created.body;
    const object = `group ${id}`;
    load.queues.push({ access, mailboxId, scopeId });
    const submit = (taskKey: string) =>
      load.call(client, access, {
        kind: 'submit',
        object,
        path: `/task-groups/${id}/tasks`,
        body: { taskKey, input: 1, ...(load.chance.next() < 0.3 && { delaySeconds: 1, maxAttempts: 2 }) },
        read: ({ taskId }) => ({ id: taskId }),
      });
    const tasks = await Promise.all(['a', 'b', 'c'].map(submit));
    await this.#repeat(client, object, 'group', { path: '/task-groups', body: group, id });
    const again = { path: `/task-groups/${id}/tasks`, body: { taskKey: 'b', input: 2, unique: true } };
    await this.#repeat(client, object, 'submit', { ...again, id: tasks[1]?.body.id });
    await load.call(client, access, { kind: 'seal', object, path: `/task-groups/${id}/seal`, body: {} });
    await Promise.all([1, 2, 3].map(() => this.#member(client, object, { access, mailboxId, scopeId })));
  }

  /** Repeats a call with a known key. It must answer the existing record. */
  async #repeat(
    client: number,
    object: string,
    what: string,
    { path, body, id }: { readonly path: string; readonly body: object; readonly id: string },
  ): Promise<void> {
    const heard = await this.load.call(client, this.access, { kind: `repeat ${what}`, object, path, body });
    if (heard.body.id !== id || heard.body.replay !== true)
      this.load.unexpected.push(`the ${what} ${id} came again as ${heard.body.id}`);
  }

  async #member(client: number, object: string, queue: Queue): Promise<void> {
    const { load, access } = this;
    const claim = await load.claim(client, queue);
    if (!claim || (await load.complete(client, access, claim)).status >= 300) return;
    const verdict = load.chance.next() < 0.7 ? 'accept' : 'reject';
    await load.call(client, access, {
      kind: verdict,
      object,
      input: { task: claim.taskId },
      path: `${object.replace('group ', '/task-groups/')}/tasks/${claim.taskId}/${verdict}`,
      body: {},
      read: (answer) => ({ state: answer.groupState }),
    });
  }
}
