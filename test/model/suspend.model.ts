/** A message of the model; times are in seconds. */
export interface ModelMessage {
  readonly scope: number;
  state: 'READY' | 'CLAIMED' | 'BLOCKED' | 'ACKED' | 'FAILED' | 'CANCELLED';
  attempts: number;
  leaseExpiresAt: number;
  /** The last one. */
  suspension: ModelSuspension | undefined;
}

export interface Condition {
  readonly kind: 'MESSAGE' | 'SCOPE' | 'NOTE';
  /** Of the message or the scope; of a note, its scope. */
  readonly at: number;
  /** For a note. */
  readonly sinceVersion: number;
  /** Once it is over, how; it stays over. */
  state: string | null;
}

export interface ModelSuspension {
  readonly conditions: readonly Condition[];
  readonly until: number | undefined;
  readonly timeoutAt: number;
  readonly any: boolean;
  readonly fails: boolean;
  wokenBy: 'CONDITION' | 'TIMEOUT' | null;
}

export const maxAttempts = 2;
const live = ['READY', 'CLAIMED', 'BLOCKED'];

/** How messages wait inside work: for other messages, for scopes, for notes and for time. */
export class SuspendModel {
  now = 0;
  readonly messages: ModelMessage[] = [];
  readonly #versions: number[];
  readonly #puts: number[];

  constructor(scopes: number) {
    this.#versions = Array<number>(scopes).fill(0);
    this.#puts = Array<number>(scopes).fill(0);
  }

  send(scope: number): void {
    this.messages.push({ scope, state: 'READY', attempts: 0, leaseExpiresAt: 0, suspension: undefined });
  }

  claim(message: ModelMessage, lease: number): boolean {
    if (message.state !== 'READY') return false;
    message.state = 'CLAIMED';
    message.attempts++;
    message.leaseExpiresAt = this.now + lease;
    return true;
  }

  complete(message: ModelMessage, isToken: boolean): string {
    if (message.state !== 'CLAIMED' || !isToken) return 'CLAIM_LOST';
    this.#end(message, 'ACKED');
    return '200';
  }

  cancel(message: ModelMessage): string {
    if (message.state === 'CANCELLED') return '200';
    if (!live.includes(message.state)) return 'MESSAGE_FINISHED';
    this.#end(message, 'CANCELLED');
    return '200';
  }

  suspend(message: ModelMessage, isToken: boolean, suspension: ModelSuspension): string {
    if (message.state !== 'CLAIMED' || !isToken) return 'CLAIM_LOST';
    const isOwn = ({ kind, at }: Condition): boolean =>
      kind === 'MESSAGE' ? this.messages[at] === message : kind === 'SCOPE' && at === message.scope;
    if (suspension.conditions.some(isOwn)) return 'VALIDATION_FAILED';
    message.attempts--;
    message.state = 'BLOCKED';
    message.suspension = suspension;
    this.#settle();
    return '201';
  }

  putNote(scope: number): void {
    this.#versions[scope] = this.#puts[scope] = this.#count(scope) + 1;
    this.#settle();
  }

  deleteNote(scope: number): string {
    if (this.version(scope) === 0) return 'NOTE_NOT_FOUND';
    this.#versions[scope] = 0;
    this.#settle();
    return '204';
  }

  version(scope: number): number {
    return this.#versions[scope] ?? 0;
  }

  isSleeping({ until }: ModelSuspension): boolean {
    return until !== undefined && until > this.now;
  }

  /** Leases end at even moments, suspensions at odd ones, each in order of creation. */
  pass(seconds: number): void {
    const until = this.now + seconds;
    while (this.now < until) {
      this.now += 1;
      for (const message of this.messages)
        if (message.state === 'CLAIMED' && message.leaseExpiresAt <= this.now) {
          if (message.attempts >= maxAttempts) this.#end(message, 'FAILED');
          else message.state = 'READY';
        }
      for (const message of this.messages) if (message.state === 'BLOCKED') this.#wake(message);
    }
  }

  /** A sleep or a suspension may have ended at this moment. */
  #wake(message: ModelMessage): void {
    const { suspension } = message;
    if (!suspension || this.#look(message, suspension) || suspension.timeoutAt > this.now) return;
    if (suspension.fails) this.#end(message, 'FAILED');
    else this.#continue(message, suspension, 'TIMEOUT');
  }

  #count(scope: number): number {
    return this.#puts[scope] ?? 0;
  }

  #end(message: ModelMessage, state: ModelMessage['state']): void {
    message.state = state;
    this.#settle();
  }

  /** What has come about is over for all that wait for it. */
  #settle(): void {
    for (const message of this.messages)
      if (message.state === 'BLOCKED' && message.suspension) this.#look(message, message.suspension);
  }

  #look(message: ModelMessage, suspension: ModelSuspension): boolean {
    for (const condition of suspension.conditions) condition.state ??= this.#stateOf(condition);
    const overs = suspension.conditions.map(({ state }) => state !== null);
    if (suspension.until !== undefined) overs.push(!this.isSleeping(suspension));
    const isOver = suspension.any ? overs.some(Boolean) : overs.every(Boolean);
    if (isOver) this.#continue(message, suspension, 'CONDITION');
    return isOver;
  }

  #continue(message: ModelMessage, suspension: ModelSuspension, wokenBy: ModelSuspension['wokenBy']): void {
    message.state = 'READY';
    suspension.wokenBy = wokenBy;
  }

  #stateOf({ kind, at, sinceVersion }: Condition): string | null {
    if (kind === 'NOTE') return this.version(at) === sinceVersion ? null : 'CHANGED';
    if (kind === 'SCOPE')
      return this.messages.some(({ scope, state }) => scope === at && live.includes(state)) ? null : 'IDLE';
    const state = this.messages[at]?.state ?? '';
    return live.includes(state) ? null : state;
  }
}
