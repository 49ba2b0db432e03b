// Reviewers by quorum: three of five must approve. The third approval decides the group, and cancels reviews not yet begun.
import { createMuster, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

interface Review {
  readonly by: string;
  readonly approves: boolean;
}

// Two reviewers, each with one review at a time. Both approve every review except the first.
const { id: mailboxId } = await muster.mailbox.create({ name: 'reviews', unique: true });
const reviewers = ['ada', 'ben'].map(
  (by) =>
    new Worker<{ change: string }, Review>(muster, { mailbox: { mailboxId }, holder: by }, ({ taskKey }) => ({
      by,
      approves: taskKey !== 'review 1',
    })),
);

const group = await muster.group.create({ mailboxId, condition: 'N_ACCEPTED', threshold: 3 });
const { groupId } = group;
for (let n = 1; n <= 5; n++) await muster.task.submit({ groupId, taskKey: `review ${n}`, input: { change: '#42' } });
await muster.group.seal({ groupId });

// The judge accepts or rejects each review until the group is decided.
const { outcome, counts } = await muster.judge<Review>(group, (review) => review.outcome.approves);
await Promise.all(reviewers.map((worker) => worker.close()));
console.log(`${outcome}: ${counts.accepted} of ${counts.members} approve`);
