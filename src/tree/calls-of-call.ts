/**
 * The calls that one call makes: checked against what it may call, drawn from the budget of the tree, each with a grant and
 * a receipt of its own.
 *
 * @module
 */
import { lineageBelow, type Lineage } from '../calls/lineage.ts';
import type { InnerAnswer, InnerCalls, InnerRefusal } from '../cell/contract.ts';
import { SkillError, unattended, type ErrorBody } from '../errors.ts';
import { JsonText, resultText } from '../json-text.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { printableLine } from '../manifest/printable.ts';
import type { Success } from '../outcome.ts';
import { forbiddenFlow, forbiddenResult } from '../policy/flow-rules.ts';
import type { OperatorPolicy } from '../policy/operator.ts';
import { namesOf } from '../trust/skill-rules.ts';
import type { CallTree } from './call-tree.ts';
import { canSendOn } from './flows.ts';
import type { LentFunctions } from './functions.ts';

export interface CallsOfCallOptions {
  tree: CallTree;
  parent: { id: string; lineage?: Lineage | undefined };
  /** Patterns of the skills that it may call. */
  patterns: readonly string[];
  /** Values of the secrets of the parent and of all calls above it. */
  secrets: ReadonlyMap<string, string>;
  /** Skills whose data the parent was given. */
  sources?: ReadonlySet<string>;
  policy: Pick<OperatorPolicy, 'flows'>;
  tenant?: string | undefined;
  /** What the parent itself may do with the results. */
  manifest: Manifest;
  /** Names of the parent, whose own data is in what it passes on; none for a program. */
  names: readonly string[];
  /** Lent to the parent, and to no call below it. */
  functions?: LentFunctions | undefined;
}

/** An id is enough: it cannot be read as a path. */
const ID = /^[a-z0-9][a-z0-9_-]{0,99}\/[a-z0-9][a-z0-9_-]{0,99}$/;

export class CallsOfCall implements InnerCalls {
  readonly #options: CallsOfCallOptions;
  readonly #lineage: Lineage;
  readonly #running = new Set<Promise<InnerAnswer>>();
  /** Skills whose data the parent may hold by now. */
  readonly #sources: Set<string>;

  constructor(options: CallsOfCallOptions) {
    this.#options = options;
    this.#lineage = lineageBelow(options.parent);
    this.#sources = new Set([...options.names, ...(options.sources ?? [])]);
  }

  /** Skills whose data the result of the parent may contain. */
  get sources(): ReadonlySet<string> {
    return this.#sources;
  }

  declared(name: string): string {
    if (!name.includes('/')) return 'a function of the host';
    return this.#options.patterns.join(', ');
  }

  call(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const answer = this.#answer(name, params, signal);
    this.#running.add(answer);
    unattended(answer.finally(() => this.#running.delete(answer)));
    return answer;
  }

  /** Resolves when nothing that the parent started runs any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #answer(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const { tree, patterns, functions } = this.#options;
    const isFunction = !name.includes('/');
    try {
      const ref = ID.test(name) ? tree.refOf(patterns, name) : undefined;
      if (isFunction ? !functions?.has(name) : ref === undefined) return notGiven(name, isFunction);
      tree.budget.take(this.#lineage.depth, params.length);
    } catch (thrown) {
      return { ...refusal(tree.errorForCell(thrown)), isUncalled: true };
    }
    try {
      const answer = await (isFunction
        ? this.#callFunction(name, params, signal)
        : this.#callSkill(name, params, signal));
      if (answer.ok) tree.budget.pass(answer.result.length);
      return answer;
    } catch (thrown) {
      return refusal(tree.errorForCell(thrown));
    }
  }

  async #callSkill(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const { tree, secrets, policy, tenant, manifest: own, patterns } = this.#options;
    const ref = tree.refOf(patterns, name) ?? name;
    // One that cannot be loaded is called too: the call fails, and has a receipt.
    const skill = await tree.skill(ref).catch(() => undefined);
    const sources = new Set(this.#sources);
    const received = new Set(skill && namesOf(skill.bundle));
    const forbidden =
      (skill && forbiddenFlow(policy.flows, sources, skill.bundle.manifest)) ??
      forbiddenResult(policy.flows, received, own);
    if (forbidden) return notAllowed(name, forbidden);
    if (skill && canSendOn(skill.bundle.manifest)) tree.flows.note(skill.bundle.manifest.name, sources);
    const onSources = (more: ReadonlySet<string>): void => more.forEach((one) => received.add(one));
    const above = { tree, lineage: this.#lineage, tenant, secrets, sources, onSources };
    const outcome = await tree.make({ ref: skill ?? ref, params: new JsonText(params), above, signal });
    // Only now it is known what the skill was given by others.
    const withheld = forbiddenResult(policy.flows, received, own);
    if (withheld) return notAllowed(name, withheld);
    for (const one of received) this.#sources.add(one);
    if (canSendOn(own)) tree.flows.note(own.name, received);
    if (!outcome.ok) return refusal(tree.errorForCell(SkillError.fromOutcome(outcome)));
    return { ok: true, result: jsonOf(outcome) };
  }

  async #callFunction(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const { tree, functions } = this.#options;
    try {
      const result = await functions?.call(name, params, signal);
      return { ok: true, result: result ?? new Uint8Array() };
    } catch (thrown) {
      const known = thrown instanceof Error ? tree.errorForCell(thrown) : undefined;
      if (known && known.code !== 'internal') return refusal(known);
      const text = tree.textForCell(reasonOf(thrown)).slice(0, MAX_REASON);
      return { ok: false, code: 'skill_error', message: `The function "${name}" failed: ${text}`, fix: FIX };
    }
  }
}

const FIX = 'Call it with other parameters.';
/** Characters of the reason that a function gives for its failure. */
const MAX_REASON = 2000;

/** Anything can be thrown, also an object that cannot become text. */
function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'an error that has no text';
  }
}

function jsonOf(outcome: Success): Uint8Array {
  return resultText(outcome)?.bytes ?? Buffer.from(JSON.stringify(outcome.result ?? null));
}

function refusal({ code, message, fix }: ErrorBody): InnerRefusal {
  return { ok: false, code, message, fix };
}

/** A rule of the operator forbids what this call would move: the receipt of the caller shows the attempt. */
function notAllowed(name: string, error: SkillError): InnerRefusal {
  const asked = `call ${printableLine(name)}`;
  return {
    ...refusal(error.toBody()),
    denied: { capability: 'skill', asked, declared: 'forbidden data flow' },
  };
}

function notGiven(name: string, isFunction: boolean): InnerRefusal {
  const what = isFunction ? 'the function' : 'the skill';
  return {
    ok: false,
    code: 'capability_denied',
    message: `This call may not call ${what} ${JSON.stringify(printableLine(name))}: it was not given`,
    fix: 'Call only what was given, by its full name.',
    denied: { capability: 'skill', asked: `call ${printableLine(name)}`, declared: 'not given' },
  };
}
