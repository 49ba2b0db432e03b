import { collect } from './desk.ts';
import { crew, quorum } from './plan.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';

/** The third act: a group that decides when enough agree, with one more task than there are agents. */
export async function prepareVote(stage: Stage, screen: Screen): Promise<void> {
  const { muster, ids, hashed, counted, subjects } = stage;
  const filesOf = (unit: string): number => counted.get(unit)?.files ?? 0;
  const [subject] = [...hashed.values()]
    .filter(({ unit }) => filesOf(unit) > 0)
    .sort((a, b) => filesOf(a.unit) - filesOf(b.unit));
  if (!subject) throw new Error('nothing was hashed: there is nothing to vote about');
  const { unit, by } = subject;
  const group = {
    parentScopeId: ids.scopeId,
    mailboxId: ids.voteId,
    condition: 'N_ACCEPTED',
    threshold: quorum,
  } as const;
  const { groupId } = await muster.group.create(group);
  for (let n = 1; n <= crew.length + 1; n++) {
    const { messageId } = await muster.task.submit({ groupId, taskKey: `${unit} ${n}`, input: { unit } });
    subjects.set(messageId, unit);
  }
  await muster.group.seal({ groupId });
  stage.vote = { groupId, correct: subject.sha256 };
  screen.log('group', `is ${by}'s digest of ${unit} right? ${crew.length + 1} tasks; ${quorum} agents must agree`);
}

/** Accepts votes for the known digest and rejects others, until all have voted. Throws when no vote was opened. */
export async function judge(stage: Stage, screen: Screen): Promise<void> {
  const { muster, votes, vote } = stage;
  if (!vote) throw new Error('there is no vote');
  const { groupId, correct } = vote;
  let decided = false;
  await collect(
    stage,
    () => votes.length === crew.length,
    async (report) => {
      if (report.kind !== 'voted') return;
      const { taskId, by, sha256 } = report;
      if (sha256 !== correct) {
        await muster.task.reject({ groupId, taskId });
        screen.log('group', `${by} says ${sha256.slice(0, 12)}…, which is wrong: rejected`);
      } else if (decided) screen.log('group', `${by} agrees too, after the decision: it stands`);
      else {
        const { groupState, outcome } = await muster.task.accept({ groupId, taskId });
        stage.accepted++;
        screen.log('group', `${by} agrees: ${stage.accepted} of ${quorum} accepted`);
        decided = groupState === 'DECIDED';
        if (decided) screen.log('group', `decided at that moment, ${outcome}: the task that nobody took is cancelled`);
      }
    },
  );
}
