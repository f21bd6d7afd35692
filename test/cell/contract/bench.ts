/**
 * How the contract runs a skill and looks at what came of it.
 *
 * @module
 */
import { expect } from 'vitest';
import type { ExecuteOptions } from '../../../src/index.ts';
import type { Failure, Outcome, Success } from '../../../src/outcome.ts';
import { dedent, writeSkill, type SkillText } from '../../write-skill.ts';
import type { CellUnderTest } from '../contract.ts';

export interface RunOptions extends ExecuteOptions {
  /** Set where no cell can be started ahead: the skill ends or blocks while it loads, or has processes. */
  anyStart?: boolean;
}

const MOST_TRIES = 10;
/** Starting a container can take longer than the default timeout on a busy machine. */
const GENEROUS = { timeout: '120s' };

export class Bench {
  readonly #folder: string;
  readonly #cell: CellUnderTest;

  constructor(folder: string, cell: CellUnderTest) {
    this.#folder = folder;
    this.#cell = cell;
  }

  skill(text: SkillText | string): string {
    const { manifest = {}, ...rest } = typeof text === 'string' ? { source: text } : text;
    const limits = { ...GENEROUS, ...(manifest['limits'] as object | undefined) };
    return writeSkill(this.#folder, { ...rest, manifest: { ...this.#cell.manifest, ...manifest, limits } });
  }

  /** A timeout in milliseconds that a harmless call keeps. */
  get patience(): number {
    return this.#cell.patience ?? 700;
  }

  /** Whether a control group is around its processes. */
  get isGrouped(): boolean {
    return this.#cell.isGrouped ?? true;
  }

  /** Its variable PATH. */
  get path(): string {
    return this.#cell.path ?? '/usr/bin:/bin';
  }

  /** As whom the skill has to see itself. */
  get uid(): number {
    return this.#cell.uid ?? 65_534;
  }

  /** A file that is on the host and must not be in the cell. */
  get hostFile(): string {
    return this.#cell.hostFile ?? '/etc/passwd';
  }

  /** A skill that does `body` when it is asked to, and else says that all is well. */
  skillThat(body: string, manifest: Record<string, unknown> = {}): string {
    const lines = dedent(body).trimEnd().split('\n');
    const indented = lines.map((line) => `    ${line}`).join('\n');
    const source = `def execute(params):\n    if not params:\n        return "fine"\n${indented}\n`;
    return this.skill({ source, manifest });
  }

  async run(dir: string, params: unknown = {}, options: RunOptions = {}): Promise<Outcome> {
    const { anyStart = false, ...rest } = options;
    const start = anyStart ? undefined : this.#cell.start;
    const isExpected = ({ execution }: Outcome): boolean => start === undefined || execution?.start === start;
    let outcome = await this.#cell.execute(dir, params, rest);
    // With a short timeout, a busy machine may not have started a cell ahead in time.
    for (let tries = 1; tries < MOST_TRIES && !isExpected(outcome); tries++)
      outcome = await this.#cell.execute(dir, params, rest);
    expect(outcome.execution?.fresh).toBe(true);
    if (start) expect(outcome.execution?.start).toBe(start);
    return outcome;
  }

  async succeed(dir: string, params: unknown = {}, options: RunOptions = {}): Promise<Success> {
    const outcome = await this.run(dir, params, options);
    if (!outcome.ok) expect.fail(`${outcome.error.code}: ${outcome.error.message}\n${outcome.logs}`);
    return outcome;
  }

  /** Runs what must fail, and shows that the next call of the same skill is none the worse for it. */
  async fail(dir: string, options: RunOptions = {}): Promise<Failure> {
    const outcome = await this.run(dir, { go: true }, options);
    if (outcome.ok) expect.fail(`It succeeded: ${JSON.stringify(outcome.result)?.slice(0, 500)}`);
    expect((await this.#next(dir, options)).result).toBe('fine');
    return outcome;
  }

  /** A harmless call. On a busy machine it can exceed a short timeout too, and is then made again. */
  async #next(dir: string, options: RunOptions): Promise<Success> {
    for (let tries = 1; tries < MOST_TRIES; tries++) {
      const outcome = await this.run(dir, {}, { ...options, anyStart: true });
      if (outcome.ok) return outcome;
      if (outcome.error.detail['limit'] !== 'timeout') break;
    }
    return this.succeed(dir, {}, { ...options, anyStart: true });
  }
}
