import { writeCursor } from './cursor.ts';
import type { Entry } from './record.ts';

const written = new WeakMap<readonly Entry[], Buffer>();

/** Events as server-sent events, each with its cursor as id. Streams of one filter share a page, and so its bytes. */
export function framesOf(page: readonly Entry[], spaceId: string, epoch: string): Buffer {
  let frames = written.get(page);
  if (!frames) {
    let text = '';
    for (const { entryId, type, json } of page)
      text += `id: ${writeCursor(spaceId, epoch, entryId)}\nevent: ${type}\ndata: ${json.text}\n\n`;
    frames = Buffer.from(text);
    written.set(page, frames);
  }
  return frames;
}
