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
import type { Skill } from '../load/skill.ts';
import { printableLine } from '../manifest/printable.ts';
import type { Success } from '../outcome.ts';
import { forbiddenFlow } from '../policy/flow-rules.ts';
import type { OperatorPolicy } from '../policy/operator.ts';
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
    this.#sources = new Set(options.sources);
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

  /** Lent to the program, not to the skills that it calls. */
  get #functions(): LentFunctions | undefined {
    return this.#lineage.depth === 1 ? this.#options.tree.functions : undefined;
  }

  async #answer(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const { tree, patterns } = this.#options;
    try {
      const isFunction = !name.includes('/');
      const ref = ID.test(name) ? tree.refOf(patterns, name) : undefined;
      if (isFunction ? !this.#functions?.has(name) : ref === undefined) return notGiven(name, isFunction);
      tree.budget.take(this.#lineage.depth, params.length);
      const answer = await (ref === undefined
        ? this.#callFunction(name, params, signal)
        : this.#callSkill(await tree.skill(ref), params, signal));
      if (answer.ok) tree.budget.pass(answer.result.length);
      return answer;
    } catch (thrown) {
      return refusal(tree.errorForCell(thrown));
    }
  }

  async #callSkill(skill: Skill, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    const { tree, secrets, policy, tenant } = this.#options;
    const { manifest } = skill.bundle;
    const sources = new Set(this.#sources);
    const forbidden = forbiddenFlow(policy.flows, sources, manifest);
    if (forbidden) throw forbidden;
    if (canSendOn(manifest)) tree.flows.note(manifest.name, sources);
    const onSources = (more: ReadonlySet<string>): void => more.forEach((one) => this.#sources.add(one));
    const above = { tree, lineage: this.#lineage, tenant, secrets, sources, onSources };
    const outcome = await tree.make({ skill, params: new JsonText(params), above, signal });
    this.#sources.add(manifest.name);
    if (!outcome.ok) return refusal(tree.errorForCell(SkillError.fromOutcome(outcome)), manifest.name);
    return { ok: true, result: jsonOf(outcome) };
  }

  async #callFunction(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer> {
    try {
      const result = await this.#functions?.call(name, params, signal);
      return { ok: true, result: result ?? new Uint8Array() };
    } catch (thrown) {
      const { code, message, fix } = this.#options.tree.errorForCell(thrown);
      if (code !== 'internal') return { ok: false, code, message, fix };
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      return { ok: false, code: 'skill_error', message: `The function "${name}" failed: ${text}`, fix: FIX };
    }
  }
}

const FIX = 'Call it with other parameters.';

function jsonOf(outcome: Success): Uint8Array {
  return resultText(outcome)?.bytes ?? Buffer.from(JSON.stringify(outcome.result ?? null));
}

function refusal({ code, message, fix, detail }: ErrorBody, skill?: string): InnerRefusal {
  return { ok: false, code, message, fix, detail: skill === undefined ? detail : { ...detail, skill } };
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
