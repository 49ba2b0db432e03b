interface ServerSentEvent {
  readonly id: string | undefined;
  /** '' if only the id advances. */
  readonly data: string;
}

/** Parses server-sent events from chunks that may end anywhere. */
export class SseReader {
  #rest = '';

  push(text: string): ServerSentEvent[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.map(readBlock);
  }
}

function readBlock(block: string): ServerSentEvent {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice('id: '.length);
    else if (line.startsWith('data: ')) data.push(line.slice('data: '.length));
  }
  return { id, data: data.join('\n') };
}
