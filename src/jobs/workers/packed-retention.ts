import { flag, text } from '../../engine/declare/field.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { DamagedSegment, deflated, type Segment } from '../../primitives/event/segment.ts';
import {
  fieldsOf,
  hashOf,
  lineOf,
  type MessageHash,
  type PackedMessages,
  placeOfEntry,
  texts,
} from '../../primitives/mailbox/packed.ts';

const due = { script: 'retention/messages', reply: { entry: text(), key: text() } };
const drop = { script: 'retention/dropMessages', reply: { isDone: flag() } };
const kinds = ['MESSAGES', 'TOMBSTONES'] as const;
/** The fields of a tombstone: see lua/mailbox/_remove.lua. */
const ofTombstone = ['scopeId', 'taskId', 'groupId', 'taskKey', 'state', 'reason', 'attempts', 'finishedAt'];

/** Removes a space's expired packed messages, by segments. */
export async function dropPacked(
  scripts: Scripts,
  packed: PackedMessages,
  org: string,
  spaceId: string,
): Promise<boolean> {
  let isBusy = false;
  for (const kind of kinds) {
    for (let skipped = 0; ; ) {
      const found = await scripts.find(due, org, { spaceId, requestId: '', kind, skipped });
      if (!found) break;
      const segment = await open(packed, found);
      // Damaged segments are already logged, and stay.
      if (!segment) skipped++;
      else {
        await dropOne(scripts, { org, spaceId }, { ...found, kind }, segment);
        isBusy = true;
      }
    }
  }
  return isBusy;
}

async function open(
  packed: PackedMessages,
  { entry, key }: { entry: string; key: string },
): Promise<Segment | undefined> {
  const place = placeOfEntry(entry, key);
  try {
    const segment = await packed.open(place);
    if (!segment) packed.reported(new DamagedSegment(place, 'is missing'));
    return segment;
  } catch (error) {
    if (error instanceof DamagedSegment) return undefined;
    throw error;
  }
}

async function dropOne(
  scripts: Scripts,
  { org, spaceId }: { org: string; spaceId: string },
  { entry, kind }: { entry: string; kind: (typeof kinds)[number] },
  { lines }: Segment,
): Promise<void> {
  const all = lines.map((line) => ({ id: line.slice(0, line.indexOf(' ')), hash: hashOf(fieldsOf(line)) }));
  const tasks = kind === 'MESSAGES' ? all.filter(({ hash }) => hash['taskId'] !== '') : [];
  const packed = tasks.length > 0 ? await deflated(tasks.map(tombstoneLine)) : { content: '', digest: '' };
  await scripts.ask(drop, org, {
    ...{ spaceId, requestId: '', entry, digest: packed.digest, countOf: tasks.length, tombstones: packed.content },
    rows: JSON.stringify(all.map(rowOf)),
  });
}

function rowOf({ id, hash }: { id: string; hash: MessageHash }) {
  const { mailboxId, scopeId, state, workKey, key, taskId, finishedAt, questionId } = hash;
  const bytes = texts.reduce((sum, name) => sum + Buffer.byteLength(hash[name] ?? ''), 0);
  const hasAsked = questionId !== undefined;
  const isTask = taskId !== '';
  return { id, mailboxId, scopeId, state, finishedAt: Number(finishedAt), isTask, bytes, hasAsked, workKey, key };
}

function tombstoneLine({ id, hash }: { id: string; hash: MessageHash }): string {
  const kept = ofTombstone.flatMap((name) => (hash[name] === undefined ? [] : [name, hash[name]]));
  return lineOf(id, [...kept, 'tombstoneOf', hash['mailboxId'] ?? '']);
}
