/**
 * The parameters of one call, from whoever gives them to the cell. Small ones are a value that is checked here and now;
 * large ones are text that worker threads check and digest.
 *
 * @module
 */
import { DigestedParams } from '../audit/digests.ts';
import type { Scrub } from '../broker/secrets/scrub.ts';
import { cancelled } from '../cell/judge.ts';
import { JsonText, MAX_JSON_HERE } from '../json-text.ts';
import { assertDepth, assertFits, assertSize, encodeParams, notJson } from '../load/params.ts';
import type { Skill } from '../load/skill.ts';
import type { Offload } from '../offload/offload.ts';
import { copiedBytes, TaskEndedError, type TaskOptions } from '../offload/task.ts';
import type { GuardRule } from '../trust/guard.ts';
import { CHECK_PARAMS, DIGEST_PARAMS } from './tasks.ts';

/** The largest parameters take a fraction of it. */
const DEADLINE_MS = 10_000;
/** No digest could be made: nobody has looked at the parameters. */
const NO_DIGEST = '';

export interface GivenParamsOptions {
  offload: Offload;
  /** Of the operator's guard. */
  rules: readonly GuardRule[];
  /** The skill as the caller names it. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export class GivenParams {
  readonly #options: GivenParamsOptions;
  /** What was given, with the value of a text that is small. */
  #given: unknown;
  /** Their JSON, once it was needed. */
  #encoded: { small: string } | { large: Uint8Array } | undefined;
  #digest: string | undefined;
  #tenant: string | undefined;
  #holding: ReadonlySet<GuardRule> | undefined;

  constructor(given: unknown, options: GivenParamsOptions) {
    this.#given = given;
    this.#options = options;
  }

  /** What the cell gets: a value, or the text of a large one. */
  get forCell(): unknown {
    return this.#encoded && 'large' in this.#encoded ? new JsonText(this.#encoded.large) : this.#given;
  }

  /** Which rules speak about these parameters, where a worker thread has found out. */
  get holding(): ReadonlySet<GuardRule> | undefined {
    return this.#holding;
  }

  /**
   * Throws `invalid_params` unless the parameters are JSON of a sane size that fits the skill's schema. The tenant is whose turn
   * of the worker threads it is.
   */
  async check(skill: Skill, tenant?: string): Promise<void> {
    this.#tenant = tenant;
    const encoded = this.#encode();
    const { name } = skill.bundle.manifest;
    if ('large' in encoded) return this.#checkElsewhere(encoded.large, skill);
    assertDepth(encoded.small);
    assertFits(await skill.params.check(this.#given, tenant), name);
  }

  /** What the receipt is made from, however early the call ends: the parameters without secrets, or their digest. */
  async forReceipt(scrub: Scrub, secrets: ReadonlyMap<string, string>): Promise<unknown> {
    return (await this.#digested(secrets)) ?? scrub(this.#given);
  }

  /** Undefined for small parameters. Rejects never. */
  async #digested(secrets: ReadonlyMap<string, string>): Promise<DigestedParams | undefined> {
    const bytes = this.#largeBytes();
    if (bytes === undefined) return undefined;
    if (typeof bytes === 'number') return new DigestedParams(NO_DIGEST, bytes);
    const digest = secrets.size === 0 ? this.#digest : undefined;
    return new DigestedParams(digest ?? (await this.#digestElsewhere(bytes, secrets)), bytes.length);
  }

  /** The text of large parameters, or only its size when that is too much. */
  #largeBytes(): Uint8Array | number | undefined {
    try {
      const encoded = this.#encode();
      return 'large' in encoded ? encoded.large : undefined;
    } catch {
      return this.#given instanceof JsonText ? this.#given.bytes.length : undefined;
    }
  }

  #encode(): { small: string } | { large: Uint8Array } {
    this.#encoded ??= this.#given instanceof JsonText ? this.#fromText(this.#given) : this.#fromValue();
    return this.#encoded;
  }

  #fromText(text: JsonText): { small: string } | { large: Uint8Array } {
    assertSize(text.bytes.length);
    if (text.bytes.length > MAX_JSON_HERE) return { large: text.bytes };
    try {
      this.#given = text.value;
    } catch (error) {
      throw notJson(error);
    }
    return { small: text.toString() };
  }

  #fromValue(): { small: string } | { large: Uint8Array } {
    const small = encodeParams(this.#given);
    const bytes = Buffer.byteLength(small);
    // From here on it is only ever its size: a receipt needs no more to say that it was refused.
    if (bytes > MAX_JSON_HERE) this.#given = new JsonText(Buffer.from(small));
    assertSize(bytes);
    return this.#given instanceof JsonText ? { large: this.#given.bytes } : { small };
  }

  async #checkElsewhere(given: Uint8Array, { bundle }: Skill): Promise<void> {
    const { offload, rules } = this.#options;
    const bytes = copiedBytes(given);
    const { name, parameters: schema } = bundle.manifest;
    try {
      const checked = await offload.run(CHECK_PARAMS, { bytes, schema, rules }, this.#taskOptions(bytes));
      assertFits(checked.problems, name);
      this.#encoded = { large: checked.text };
      this.#digest = checked.digest;
      this.#holding = new Set(rules.filter((_, at) => checked.holding.includes(at)));
    } catch (error) {
      if (!(error instanceof TaskEndedError) || error.reason === 'closed') throw error;
      if (error.reason === 'aborted') throw cancelled();
      const reason = error.reason === 'memory' ? 'it takes too much memory' : 'it takes too long';
      assertFits([`(root): could not be checked: ${reason}`], name);
    }
  }

  async #digestElsewhere(given: Uint8Array, secrets: ReadonlyMap<string, string>): Promise<string> {
    const bytes = copiedBytes(given);
    try {
      // Whoever gave the call up still gets a receipt.
      const { signal: _, ...options } = this.#taskOptions(bytes);
      return await this.#options.offload.run(DIGEST_PARAMS, { bytes, secrets }, options);
    } catch {
      return NO_DIGEST;
    }
  }

  #taskOptions(bytes: Uint8Array): TaskOptions {
    const { owner, signal } = this.#options;
    return { deadlineMs: DEADLINE_MS, owner, tenant: this.#tenant, transfer: [bytes], signal };
  }
}
