/**
 * The policy of a service that keeps running while its policy files change. What an edit takes away counts at the next
 * call. What it adds waits until the operator reloads, because a file can be half written, or come with an update of the
 * project that nobody has reviewed. A broken file adds and removes nothing: what was in force before
 * stays in force, and what the other files take away still counts.
 *
 * @module
 */
import { toSkillError } from '../errors.ts';
import { FileWatch } from './file-watch.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';
import { heldBack, strictest } from './strictest.ts';

export interface LivePolicyOptions {
  /** Reads the policy files; undefined if there are none. */
  read: () => OperatorPolicy | undefined;
  /** Reads only the files that can be used; called if `read` throws. Absent: there is one file. */
  readUsable?: () => OperatorPolicy;
  /** Every file and folder that can change what `read` returns. Some may not exist. */
  watched: readonly string[];
  /** Receives a sentence for the operator when something changed. */
  onNote?: ((text: string) => void) | undefined;
}

/** How the policy in force relates to the files. */
export interface PolicyStatus {
  /** `waiting`: the files allow more than is in force. `broken`: they cannot be used. */
  state: 'current' | 'waiting' | 'broken';
  /** The keys in which the policy in force is stricter than the files. */
  waiting: string[];
  /** Why the files cannot be used. */
  problem?: string;
}

/** A policy that follows its files. */
export class LivePolicy {
  readonly #options: LivePolicyOptions;
  /** What the operator put in force, by starting the service or by reloading. */
  #accepted: OperatorPolicy;
  #inForce: OperatorPolicy;
  #status: PolicyStatus = { state: 'current', waiting: [] };
  readonly #watch: FileWatch;

  /** Throws if the files cannot be used: a service never starts with a broken policy. */
  constructor(options: LivePolicyOptions) {
    this.#options = options;
    this.#watch = new FileWatch(() => options.watched);
    this.#accepted = options.read() ?? DEFAULT_POLICY;
    this.#inForce = this.#accepted;
  }

  get status(): PolicyStatus {
    return this.#status;
  }

  /** The policy for a call that starts now. */
  current(): OperatorPolicy {
    if (this.#watch.hasChanged()) this.#follow();
    return this.#inForce;
  }

  /** The operator asks for the files as they are. Returns whether they are now in force. */
  reload(): boolean {
    this.#watch.hasChanged();
    const file = this.#read();
    if (!file) return false;
    this.#accepted = file;
    this.#inForce = file;
    this.#status = { state: 'current', waiting: [] };
    this.#note('The policy was reloaded and is in force.');
    return true;
  }

  #follow(): void {
    const file = this.#read();
    if (!file) return;
    const wasBroken = this.#status.state === 'broken';
    this.#inForce = strictest(this.#accepted, file);
    const waiting = heldBack(this.#inForce, file);
    this.#status = { state: waiting.length > 0 ? 'waiting' : 'current', waiting };
    const valid = wasBroken ? 'The policy is valid again' : 'The policy changed';
    if (waiting.length === 0) this.#note(`${valid} and is in force.`);
    else
      this.#note(
        `${valid}. What it takes away is in force; what it adds waits for SIGHUP or a restart: ${waiting.join(', ')}.`,
      );
  }

  /** Undefined if the files cannot be used; the policy in force stays. */
  #read(): OperatorPolicy | undefined {
    try {
      return this.#options.read() ?? DEFAULT_POLICY;
    } catch (error) {
      const { message, fix } = toSkillError(error);
      this.#takeAwayByUsable();
      this.#status = { ...this.#status, state: 'broken', problem: message };
      this.#note(`error: ${message}. What was in force stays in force.\nfix: ${fix}`);
      return undefined;
    }
  }

  /** Never throws: it runs in a timer as well, and what is in force is the safe answer. */
  #takeAwayByUsable(): void {
    try {
      const usable = this.#options.readUsable?.();
      if (usable) this.#inForce = strictest(this.#inForce, usable);
    } catch {
      // The problem is reported by the caller.
    }
  }

  #note(text: string): void {
    this.#options.onNote?.(text);
  }
}
