/**
 * The setting of one attack on trust: a project, an attacker's folder next to it, and runtimes that see both.
 *
 * @module
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  createRuntime,
  type ExecuteOptions,
  NO_USAGE,
  type OperatorPolicy,
  type Outcome,
  parsePolicy,
  type RuntimeOptions,
  SkillError,
} from '../../src/for-attacks.ts';

export interface BundleText {
  /** Added to a manifest that requests nothing, or the complete text of one. */
  manifest?: Record<string, unknown> | string;
  /** Source of `skill.js`. */
  code?: string;
  files?: Record<string, string>;
}

export interface TrustStage extends AsyncDisposable {
  readonly dir: string;
  /** Skillcell's home; attacks share it, so each uses its own names. */
  readonly home: string;
  /** The victim's working directory. */
  readonly project: string;
  /** Bundle folder outside the project. */
  readonly stranger: string;
  /** A name that no other attack has. */
  readonly skill: string;
  /** Writes a bundle into a folder; its code is the attacker's unless specified. */
  write: (folder: string, text?: BundleText) => string;
  /** Calls a skill as the victim does. */
  call: (ref: string, call?: TrustCall) => Promise<Outcome>;
  /** The victim's runtime, for acts that are not calls. */
  with: <T>(
    options: RuntimeOptions,
    act: (runtime: ReturnType<typeof createRuntime>) => Promise<T>,
  ) => Promise<T>;
  /** What a careless loader would have encountered during the attempt. */
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

/** Does what it can, wherever it runs: writes a file if it has the host's rights, and reports in the result. */
const hostile = (marker: string): string => `
const files = globalThis.process?.getBuiltinModule?.('node:fs');
files?.writeFileSync(${JSON.stringify(marker)}, 'ran');
export function execute() {
  return { succeeded: true, evidence: "the attacker's code ran" };
}
`;

/** The same author before turning malicious, or code that only reports whether it has the host's rights. */
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
  // Also for the user who runs the controls.
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
    harm: () => (existsSync(marker) ? ["the attacker's code ran with the host's rights"] : []),
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
    description: 'An untrusted skill.',
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

/** An act that is not a call, as an outcome: its return value, or its error. */
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
