import type { Fields } from '../declare/field.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Call } from './call.ts';
import type { Layers, Result } from './hold.ts';
import { readNote } from './note.ts';
import type { CallService, Unpacked } from './service.ts';

/** A call that asks for packed records this often meets segments that change all the time. */
const maxRuns = 50;

/** The organization of a call, and its turn. */
interface Run extends Pick<Call, 'turn'> {
  readonly caller: Pick<Call['caller'], 'org'>;
}

/** Runs the scripts of one call. */
export class Runner {
  readonly #service: CallService;
  readonly #call: Run;

  constructor(service: CallService, call: Run) {
    this.#service = service;
    this.#call = call;
  }

  /** Runs a script once, when it is the call's turn. */
  once(script: string, args: Layers): Promise<Reply> {
    const { turn, caller } = this.#call;
    return (turn ?? this.#service.scripts).run(script, caller.org, args);
  }

  /**
   * Runs a script and reads its reply. If the script refuses with DUE, sweeps and runs it again; more than once if
   * concurrent calls leave more to sweep. Likewise opens packed records that it asks for with PACKED.
   */
  async run(script: string, args: Layers, read: ReplyReader<Fields>): Promise<Result> {
    const { due, unpacking } = this.#service;
    const { org } = this.#call.caller;
    let unpacked: Unpacked | undefined;
    for (let current = args, runs = 1; ; runs++) {
      try {
        const [head, ...values] = await this.once(script, current);
        const note = readNote(String(head));
        if (note.wake !== '') this.#announce(note.wake);
        return { note, reply: read(values) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.code === 'DUE') current = [{ drainedThrough: await due.drain(org, error.detail) }, ...current];
        else if (error.code === 'PACKED' && unpacking.isWanted(error.detail)) {
          if (runs > maxRuns) throw new StoreUnavailable('messages are being packed');
          unpacked = await unpacking.unpack(error.detail, unpacked);
          current = [{ unpacked: unpacked.text }, ...current];
        } else throw error;
      }
    }
  }

  /** Tells the index of organizations of an earlier timer. Not awaited: the periodic repair finds what a crash loses. */
  #announce(at: string): void {
    const { due, log } = this.#service;
    due
      .announce(this.#call.caller.org, at)
      .catch((error: Error) => log.warn({ error: error.message }, 'cannot update the index of due organizations'));
  }
}
