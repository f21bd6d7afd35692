/**
 * The parameters of one call, on their way from the caller to the cell. Small ones are a value that is checked here; large
 * ones are text that worker threads check and digest.
 *
 * @module
 */
import { DigestedParams } from '../audit/digests.ts';
import type { Scrub } from '../broker/secrets/scrub.ts';
import { cancelled } from '../cell/verdict/judge.ts';
import { JsonText, MAX_JSON_HERE, parseExact } from '../json-text.ts';
import { assertDepth, assertFits, assertSize, encodeParams, notJson } from '../load/params.ts';
import type { Skill } from '../load/skill.ts';
import type { Offload } from '../offload/offload.ts';
import { copiedBytes, TaskEndedError, type TaskOptions } from '../offload/task.ts';
import type { GuardRule } from '../trust/guard.ts';
import type { GivenCommand } from '../policy/commands/command.ts';
import { givenCommand } from './given-command.ts';
import { CHECK_PARAMS, DIGEST_PARAMS } from './tasks.ts';

/** The largest parameters take a fraction of this. */
const DEADLINE_MS = 10_000;
/** For parameters that were not read, so that there is no digest. */
const NO_DIGEST = '';

export interface GivenParamsOptions {
  offload: Offload;
  /** The rules of the operator's guard. */
  rules: () => readonly GuardRule[];
  /** The skill as the caller names it. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export class GivenParams {
  readonly #options: GivenParamsOptions;
  /** The parameters as given; small text is replaced by its value. */
  #given: unknown;
  /** Their JSON, computed on first use. */
  #encoded: { small: string } | { large: Uint8Array } | undefined;
  #digest: string | undefined;
  #tenant: string | undefined;
  #holding: ReadonlySet<GuardRule> | undefined;
  #command: GivenCommand | undefined;

  constructor(given: unknown, options: GivenParamsOptions) {
    this.#given = given;
    this.#options = options;
  }

  /** The parameters for the cell: a value, or the text of a large one. */
  get forCell(): unknown {
    return this.#encoded && 'large' in this.#encoded ? new JsonText(this.#encoded.large) : this.#given;
  }

  /** Size of their JSON; throws as `check` does. */
  get bytes(): number {
    const encoded = this.#encode();
    return 'large' in encoded ? encoded.large.length : Buffer.byteLength(encoded.small);
  }

  /** The rules that match these parameters, if a worker thread checked them. */
  get holding(): ReadonlySet<GuardRule> | undefined {
    return this.#holding;
  }

  /** The command of a skill of kind `script`, once it has been checked. */
  get command(): GivenCommand | undefined {
    return this.#command;
  }

  /**
   * Throws `invalid_params` unless the parameters are JSON within the size limit and match the skill's schema. Worker threads
   * are shared fairly between tenants.
   */
  async check(skill: Skill, tenant?: string): Promise<void> {
    this.#tenant = tenant;
    const encoded = this.#encode();
    const { name, declaresCapabilities } = skill.bundle.manifest;
    if ('large' in encoded) return this.#checkInWorker(encoded.large, skill);
    assertDepth(encoded.small);
    const isCommand = skill.bundle.kind === 'script';
    const isLegacy = !declaresCapabilities && !isCommand;
    assertFits(await skill.params.check(this.#given, tenant), name, { isLegacy });
    if (isCommand) this.#command = givenCommand(this.#given);
  }

  /** The parameters without secrets, or the digest of large ones. Works however early the call ends; never rejects. */
  async forReceipt(scrub: Scrub, secrets: ReadonlyMap<string, string>): Promise<unknown> {
    const bytes = this.#largeBytes();
    if (bytes === undefined) return scrub(this.#given);
    if (typeof bytes === 'number') return new DigestedParams(NO_DIGEST, bytes);
    const digest = secrets.size === 0 ? this.#digest : undefined;
    return new DigestedParams(digest ?? (await this.#digestInWorker(bytes, secrets)), bytes.length);
  }

  /** The text of large parameters, or only its size if that exceeds the limit. */
  #largeBytes(): Uint8Array | number | undefined {
    try {
      const encoded = this.#encode();
      return 'large' in encoded ? encoded.large : undefined;
    } catch {
      const text = textOf(this.#given);
      // A value that has no JSON may throw at whoever looks at it later.
      if (!text) this.#given = undefined;
      return text?.bytes.length;
    }
  }

  #encode(): { small: string } | { large: Uint8Array } {
    if (this.#encoded) return this.#encoded;
    const text = textOf(this.#given);
    this.#encoded = text ? this.#fromText(text) : this.#fromValue();
    return this.#encoded;
  }

  #fromText(text: JsonText): { small: string } | { large: Uint8Array } {
    assertSize(text.bytes.length);
    if (text.bytes.length > MAX_JSON_HERE) return { large: text.bytes };
    try {
      this.#given = parseExact(text.toString());
    } catch (error) {
      throw notJson(error);
    }
    return { small: text.toString() };
  }

  #fromValue(): { small: string } | { large: Uint8Array } {
    const small = encodeParams(this.#given);
    const bytes = Buffer.byteLength(small);
    // Keep the text, so that the receipt of a refused call can name its size.
    const large = bytes > MAX_JSON_HERE ? new JsonText(Buffer.from(small)) : undefined;
    // What is checked and recorded is what the cell gets: `toJSON`, getters and NaN make the value another one than its JSON.
    this.#given = large ?? (JSON.parse(small) as unknown);
    assertSize(bytes);
    return large ? { large: large.bytes } : { small };
  }

  async #checkInWorker(given: Uint8Array, { bundle }: Skill): Promise<void> {
    const { offload } = this.#options;
    const rules = this.#options.rules();
    const isCommand = bundle.kind === 'script';
    const bytes = copiedBytes(given);
    const { name, parameters: schema, declaresCapabilities } = bundle.manifest;
    try {
      const checked = await offload.run(
        CHECK_PARAMS,
        { bytes, schema, rules, isCommand },
        this.#taskOptions(bytes),
      );
      assertFits(checked.problems, name, { isLegacy: !declaresCapabilities });
      this.#encoded = { large: checked.text };
      this.#digest = checked.digest;
      this.#command = checked.command;
      this.#holding = new Set(rules.filter((_, at) => checked.holding.includes(at)));
    } catch (error) {
      if (!(error instanceof TaskEndedError) || error.reason === 'closed') throw error;
      if (error.reason === 'aborted') throw cancelled();
      const reason = error.reason === 'memory' ? 'it takes too much memory' : 'it takes too long';
      assertFits([`(root): could not be checked: ${reason}`], name);
    }
  }

  async #digestInWorker(given: Uint8Array, secrets: ReadonlyMap<string, string>): Promise<string> {
    const bytes = copiedBytes(given);
    try {
      // Without the signal: a cancelled call still gets a receipt.
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

/** Undefined for a value, even for a revoked proxy, which throws at every look. */
function textOf(given: unknown): JsonText | undefined {
  try {
    return given instanceof JsonText ? given : undefined;
  } catch {
    return undefined;
  }
}
