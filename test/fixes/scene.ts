/**
 * Calls of real skills whose fixes are followed: every row gets a folder, all rows share a home with its prepared engines.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createRuntime, type Outcome, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { capabilitySet } from '../../src/load/capability-set.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { policyInForce } from '../../src/policy/in-force.ts';
import { openCommandLine, type CommandLine } from '../cli/command.ts';
import { removeFolder, writeSkill, type SkillText } from '../write-skill.ts';
import { follow, type Followed } from './apply.ts';

export interface Row {
  name: string;
  skill: SkillText;
  params?: Record<string, unknown>;
  /** Text of the policy in the folder, if there is one; it is trusted. */
  policy?: string;
  options?: Parameters<Runtime['execute']>[2];
  runtime?: RuntimeOptions;
  code: string;
  /** What the fix must say. */
  says?: RegExp;
  /** New value of a limit that the fix says to raise. */
  raiseTo?: number | string;
  /** The part that only a person can do, such as changing the code, exactly as the fix says. */
  person?: (row: Placed, fix: string) => Record<string, unknown> | void;
  /** The fix is advice about code or data, which no machine can follow. */
  advice?: true;
  /** Options that the fix tells the caller to leave out or to repeat the call without. */
  without?: string[];
  /** Done after the skill was written, such as locking it. */
  arrange?: (scenes: Scenes, placed: Placed) => Promise<void>;
  /** What `record` may do to judge the fix; false if it declares nothing. */
  judge?: boolean;
}

export interface Placed {
  cwd: string;
  dir: string;
  workspace: string;
  /** A folder outside of all grants. */
  outside: string;
}

export class Scenes implements AsyncDisposable {
  readonly command: CommandLine = openCommandLine();
  readonly home: string = join(this.command.folder, 'home');
  /** Not below /tmp, which every cell has for itself. */
  readonly #outside = realpathSync(mkdtempSync('/var/tmp/skillcell-fixes-'));
  #count = 0;

  /** Paths in the texts of a row: `@outside` and `@workspace`. */
  async place(row: Row): Promise<Placed> {
    chmodSync(this.#outside, 0o711);
    const cwd = join(this.command.folder, `row-${++this.#count}`);
    const [workspace, outside] = [join(cwd, 'workspace'), join(this.#outside, String(this.#count))];
    for (const folder of [workspace, outside]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o777);
    }
    writeFileSync(join(outside, 'a.txt'), 'outside', { mode: 0o666 });
    chmodSync(join(outside, 'a.txt'), 0o666);
    writeFileSync(join(workspace, 'a.txt'), 'inside');
    chmodSync(join(workspace, 'a.txt'), 0o666);
    const dir = writeSkill(cwd, fill(row.skill, { cwd, dir: '', workspace, outside }));
    if (row.policy !== undefined) {
      writeFileSync(join(cwd, 'skillcell.policy.yaml'), row.policy);
      await this.run('skillcell policy trust skillcell.policy.yaml', cwd);
    }
    const placed = { cwd, dir, workspace, outside };
    await row.arrange?.(this, placed);
    return placed;
  }

  async run(command: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
    const [, ...args] = words(command);
    // Off a terminal, the command itself says to add this.
    if (args[0] === 'approve') args.push('--yes');
    const ended = await this.command.run(args, { cwd, env });
    expect(ended.code, `${command}\n${ended.stderr}`).toBe(0);
    return ended.stdout;
  }

  open(row: Row, { cwd }: Placed): Runtime {
    const policy = policyInForce({ folder: cwd, home: this.home });
    return createRuntime({
      home: this.home,
      cwd,
      pool: { size: 0 },
      env: ENV,
      caller: 'test',
      ...(policy ? { policy } : {}),
      ...row.runtime,
    });
  }

  async call(row: Row, placed: Placed, options: Record<string, unknown> = {}): Promise<Outcome> {
    await using runtime = this.open(row, placed);
    const params = fill(row.params ?? {}, placed);
    return await runtime.execute(placed.dir, params, {
      workspace: placed.workspace,
      ...row.options,
      ...options,
      reject: false,
    } as never);
  }

  /** The whole story of a row: it fails, its fix is followed, it succeeds, and nothing more was granted. */
  async prove(row: Row): Promise<string> {
    const placed = await this.place(row);
    const before = await this.call(row, placed);
    expect(before, row.name).toMatchObject({ ok: false, error: { code: row.code } });
    if (before.ok) return '';
    const { fix } = before.error;
    if (row.says) expect(fix).toMatch(row.says);
    if (row.advice) {
      expect(row.says, 'advice must name the place or the value').toBeDefined();
      return fix;
    }
    const { steps, options } = await this.#follow(fix, row, placed);
    const params = row.person?.(placed, fix);
    const byHand = row.person || row.without ? 1 : 0;
    expect(steps.length + Object.keys(options).length + byHand, fix).toBeGreaterThan(0);
    const dropped = new Set([...(row.without ?? []), options.leaveOut]);
    const kept = Object.entries(row.options ?? {}).filter(([name]) => !dropped.has(name));
    const exported = options.exported === undefined ? {} : { [options.exported]: 'a-value' };
    const changed: Row = {
      ...row,
      options: Object.fromEntries(kept),
      params: { ...row.params, ...params },
      runtime: { ...row.runtime, env: { ...ENV, ...row.runtime?.env, ...exported } },
    };
    const after = await this.call(changed, placed, {
      ...(options.workspace ? { workspace: placed.workspace } : {}),
      ...(options.env ? { allowEnv: options.env } : {}),
    });
    expect(after, `${row.name}: ${fix}\n${JSON.stringify(after)}`).toMatchObject({ ok: true });
    if (row.judge) await this.#judge(changed, placed);
    return fix;
  }

  #follow(fix: string, row: Row, placed: Placed): Promise<Followed> {
    const run = async (command: string): Promise<void> => {
      const params = JSON.stringify(fill(row.params ?? {}, placed));
      // "with the same parameters"
      const same = command.includes(' record ')
        ? ` --params '${params}' --workspace ${placed.workspace}`
        : '';
      // "in the environment"
      await this.run(`${command}${same}`, placed.cwd, ENV);
    };
    return follow(fix, { cwd: placed.cwd, raiseTo: row.raiseTo, run });
  }

  /** `record` of the same call finds the same capabilities in the manifest. */
  async #judge(row: Row, placed: Placed): Promise<void> {
    await using runtime = this.open(row, placed);
    const { manifest } = (await runtime.load(placed.dir)).bundle;
    const { filesystem, network } = manifest.capabilities;
    const paths = (access: string): string[] =>
      filesystem.filter((one) => one.access === access).map(({ path }) => path);
    const recording = await runtime.record(placed.dir, fill(row.params ?? {}, placed), {
      workspace: placed.workspace,
      ...row.options,
      allow: {
        network: network.length > 0,
        read: paths('read'),
        write: paths('read-write'),
        env: Object.keys(manifest.env),
        ...(manifest.limits.processes ? { processes: manifest.limits.processes } : {}),
      },
    });
    expect(recording.outcome.ok).toBe(true);
    expect(capabilitiesIn(recording.manifest, manifest)).toEqual(capabilitySet(manifest));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.command.close();
    removeFolder(this.#outside);
  }
}

/** Invented. */
export const ENV = { COLOUR: 'green', API_KEY: 'invented-key-0123456789abcdef' };

function capabilitiesIn(text: string, inherited: Manifest): string[] {
  return capabilitySet(parseManifest(text, { file: 'manifest.yaml', inherited }).manifest);
}

/** Puts the folders of the row into its texts. */
export function fill<T>(value: T, { workspace, outside }: Placed): T {
  const text = JSON.stringify(value).replaceAll('@workspace', workspace).replaceAll('@outside', outside);
  return JSON.parse(text) as T;
}

/** A command as a shell would split it; only single quotes occur. */
export function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

export const manifestOf = ({ dir }: Placed): string => readFileSync(join(dir, 'manifest.yaml'), 'utf8');
