/**
 * The place of one attack on trust: a project, a folder of a stranger beside it, and runtimes that look at both.
 *
 * @module
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../../src/errors.ts';
import { createRuntime, type ExecuteOptions, type RuntimeOptions } from '../../src/index.ts';
import { NO_USAGE, type Outcome } from '../../src/outcome.ts';
import { parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';

export interface BundleText {
  /** Added to a manifest that asks for nothing, or the whole text of one. */
  manifest?: Record<string, unknown> | string;
  /** Of `skill.js`. */
  code?: string;
  files?: Record<string, string>;
}

export interface TrustStage extends AsyncDisposable {
  readonly dir: string;
  /** Of Skillcell; attacks share it, so each has names of its own. */
  readonly home: string;
  /** The working directory of the victim. */
  readonly project: string;
  /** Bundle folder outside of the project. */
  readonly stranger: string;
  /** A name that no other attack has. */
  readonly skill: string;
  /** Writes a bundle into a folder, whose code is the attacker's unless it says otherwise. */
  write: (folder: string, text?: BundleText) => string;
  /** Calls a skill as the victim does. */
  call: (ref: string, call?: TrustCall) => Promise<Outcome>;
  /** The victim's runtime, for acts that are no calls. */
  with: <T>(
    options: RuntimeOptions,
    act: (runtime: ReturnType<typeof createRuntime>) => Promise<T>,
  ) => Promise<T>;
  /** What a careless loader would have met during the attempt. */
  readonly seen: (string | undefined)[];
  /** What the attacker's code did. */
  harm: () => string[];
  forget: () => void;
}

export interface TrustCall extends ExecuteOptions {
  params?: unknown;
  /** Text of the operator's policy. */
  policy?: string;
  runtime?: RuntimeOptions;
}

/** Does what it can, wherever it runs: a file where it has the rights of the host, and a word in the result. */
const hostile = (marker: string): string => `
const files = globalThis.process?.getBuiltinModule?.('node:fs');
files?.writeFileSync(${JSON.stringify(marker)}, 'ran');
export function execute() {
  return { succeeded: true, evidence: 'the code of the attacker ran' };
}
`;

/** The same author before he turned, or code that only tells whether it has the rights of the host. */
export const HARMLESS = `
export function execute() {
  return { succeeded: typeof globalThis.process?.getBuiltinModule === 'function' };
}
`;

export function openTrustStage(home: string, attack: string): TrustStage {
  const dir = realpathSync(mkdtempSync('/var/tmp/skillcell-trust-'));
  chmodSync(dir, 0o755);
  const marks = join(dir, 'marks');
  const marker = join(marks, 'ran');
  const project = join(dir, 'project');
  mkdirSync(project);
  mkdirSync(marks);
  // Also for who runs the controls.
  chmodSync(marks, 0o777);
  const skill = `trust/${attack}`;
  const run: TrustStage['with'] = async (options, act) => {
    await using runtime = createRuntime({ home, cwd: project, audit: false, pool: { size: 0 }, ...options });
    return await act(runtime);
  };
  return {
    dir,
    home,
    project,
    stranger: join(dir, 'stranger', attack),
    skill,
    seen: [],
    write: (folder, text = {}) => writeBundle(folder, { code: hostile(marker), ...text }, skill),
    call: (ref, { params = {}, policy, runtime = {}, ...options } = {}) =>
      run({ ...runtime, ...(policy === undefined ? {} : { policy: policyOf(policy) }) }, (made) =>
        made.execute(ref, params, { ...options, reject: false }),
      ),
    with: run,
    harm: () => (existsSync(marker) ? ['the code of the attacker ran with the rights of the host'] : []),
    forget: () => rmSync(marker, { force: true }),
    [Symbol.asyncDispose]: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

export function policyOf(text: string): OperatorPolicy {
  return parsePolicy(text, { file: 'policy of the attack' });
}

function writeBundle(
  folder: string,
  { manifest = {}, code = '', files = {} }: BundleText,
  name: string,
): string {
  const usual = {
    name,
    version: '1.0.0',
    description: 'A skill of a stranger.',
    execution: 'wasm',
    capabilities: {},
  };
  const texts = {
    'manifest.yaml': typeof manifest === 'string' ? manifest : JSON.stringify({ ...usual, ...manifest }),
    'skill.js': code,
    ...files,
  };
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** An act that is no call, as the outcome of one: what it returned, or the error that it ended with. */
export async function asOutcome(act: () => unknown): Promise<Outcome> {
  const facts = {
    call_id: '',
    skill: { name: '', version: '', digest: '' },
    usage: NO_USAGE,
    capabilities: { used: [], denied: [] },
    logs: '',
    warnings: [],
  };
  try {
    return { ...facts, ok: true, result: await act() };
  } catch (error) {
    if (error instanceof SkillError) return { ...facts, ok: false, error: error.toBody() };
    throw error;
  }
}
