/**
 * Attacks on the person at the terminal: through every field that a command prints, and through what `record` proposes.
 *
 * @module
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../../src/for-attacks.ts';
import { runAlone } from '../runner/alone.ts';
import { group, type Careless, type TrustAttack } from '../trust/attack.ts';
import { asOutcome, type BundleText, type TrustStage } from '../trust/stage.ts';
import { command, didNotRun, harmIn, HOSTILE, judgeWords, type Shown } from './words.ts';

const WORDS = JSON.stringify(HOSTILE);

type Entry = Omit<TrustAttack, 'name' | 'codes' | 'limits'>;

const bundleOf = (stage: TrustStage): string => join(stage.project, 'skills', stage.skill);

/** A skill of the project, and a command that shows part of it. */
function shows(
  description: string,
  bundle: BundleText,
  { args, control }: { args: (stage: TrustStage) => string[]; control: Careless },
): Entry {
  const attempt = async (stage: TrustStage): Promise<Outcome> => {
    stage.write(bundleOf(stage), bundle);
    const { stdout, stderr } = await command(stage, args(stage));
    const [first, second] = [await judgeWords(stdout + stderr), harmIn(stderr)];
    return second === undefined ? first : judgeWords(stderr);
  };
  return { description, attempt, control };
}

/** A program that prints the field unescaped. */
const printsField =
  (field: string): Careless =>
  (stage) => {
    const manifest = parse(readFileSync(join(bundleOf(stage), 'manifest.yaml'), 'utf8')) as Record<
      string,
      string
    >;
    return harmIn(`${stage.skill}  ${manifest[field] ?? ''}`);
  };

/** A program that imports the skill and prints its result unescaped. */
const printsCall: Careless = async (stage) => {
  const program = `const { execute } = await import(${JSON.stringify(join(bundleOf(stage), 'skill.js'))});
    try { console.log(JSON.stringify(execute({}))); } catch (error) { console.log(error.message); }`;
  const args = ['--no-warnings', '--input-type=module', '--eval', program];
  return harmIn(await runAlone(process.execPath, args));
};

const runs = (stage: TrustStage): string[] => ['run', stage.skill, '--params', '{}'];

/** Requests a file with a hostile name, so that the denial contains the name. */
const NOSY = `def execute(params):\n    try:\n        open("/data/" + ${WORDS})\n    except OSError:\n        pass\n    return {}\n`;

const native = (source: string, manifest: Record<string, unknown> = {}): BundleText => ({
  manifest: { execution: 'subprocess', entry: 'skill.py', ...manifest },
  files: { 'skill.py': source },
});

async function showReceipt(stage: TrustStage): Promise<Outcome> {
  stage.write(bundleOf(stage), native(NOSY));
  await command(stage, runs(stage));
  const { stdout } = await command(stage, ['audit', 'list', '--skill', stage.skill, '--json']);
  const id = /[0-9A-HJKMNP-TV-Z]{26}/.exec(stdout)?.[0];
  if (id === undefined) return asOutcome(() => Promise.reject(didNotRun(`no receipt: ${stdout}`)));
  const { stdout: shown, stderr } = await command(stage, ['audit', 'show', id]);
  return judgeWords(shown + stderr);
}

/** An unpacked folder with a policy: the command prints where the policy is. */
async function asksDoctor(stage: TrustStage): Promise<Outcome> {
  const folder = join(stage.project, HOSTILE);
  mkdirSync(folder);
  writeFileSync(join(folder, 'skillcell.policy.yaml'), '{}\n');
  const { stdout, stderr } = await command(stage, ['doctor', '--verbose'], folder);
  return judgeWords(stdout + stderr);
}

/** Creates a folder that already exists, which is not a write. */
const MAKES_FOLDER = `import os\ndef execute(params):\n    os.makedirs("/workspace/out", exist_ok=True)\n    open("/workspace/out/a.txt", "w").write("x")\n    return {}\n`;

async function recordsMakedirs(stage: TrustStage): Promise<Outcome> {
  const out = join(stage.project, 'out');
  mkdirSync(out, { recursive: true });
  chmodSync(out, 0o777);
  stage.write(bundleOf(stage), native(MAKES_FOLDER));
  const args = ['record', stage.skill, '--params', '{}', '--workspace', '.', '--allow-write', 'out'];
  const { stdout, stderr }: Shown = await command(stage, args);
  return asOutcome(() => {
    // What it would be granted, in added lines only.
    const added = stdout
      .split('\n')
      .filter((line) => line.startsWith('+'))
      .join('\n');
    if (!added.includes('${workspace}/out')) throw didNotRun(`nothing was proposed: ${stdout}${stderr}`);
    const isWide = /\$\{workspace\}\/?["' ,}]/.test(added);
    return { succeeded: isWide, evidence: added.slice(0, 200) };
  });
}

/** Mistakes the parent of a created folder for the folder that is needed. */
const grantsParent: Careless = () => {
  const made = '/workspace/out';
  const proposed = made.slice(0, made.lastIndexOf('/')).replace('/workspace', '${workspace}');
  return proposed === '${workspace}'
    ? 'the whole workspace is proposed for a mkdir of an existing folder'
    : undefined;
};

export const TERMINAL_ATTACKS: readonly TrustAttack[] = group(['ok'], {
  list_with_escapes: shows(
    'Controls the terminal through its description when skills are listed.',
    { manifest: { description: HOSTILE } },
    { args: () => ['list'], control: printsField('description') },
  ),
  list_short_with_escapes: shows(
    'Controls the terminal through its short description when skills are listed.',
    { manifest: { short_description: HOSTILE } },
    { args: () => ['list'], control: printsField('short_description') },
  ),
  inspect_with_escapes: shows(
    "Controls the terminal, and forges Skillcell's lines, when it is inspected.",
    { manifest: { description: HOSTILE } },
    { args: (stage) => ['inspect', stage.skill], control: printsField('description') },
  ),
  result_with_escapes: shows(
    'Controls the terminal through its result, also with codes that JSON does not escape.',
    { code: `export function execute() { return { [${WORDS}]: ${WORDS} }; }` },
    { args: runs, control: printsCall },
  ),
  error_with_forged_fix: shows(
    "Throws an error whose later lines look like Skillcell's fix and receipt.",
    { code: `export function execute() { throw new Error(${WORDS}); }` },
    { args: runs, control: printsCall },
  ),
  log_with_forged_lines: shows(
    "Prints log lines that look like Skillcell's warnings and denials.",
    { code: `export function execute() { console.log(${WORDS}); return {}; }` },
    { args: runs, control: printsCall },
  ),
  receipt_with_escapes: {
    description: 'Controls the terminal through the name of a denied file when its receipt is shown.',
    attempt: showReceipt,
    control: () => harmIn(`denied  read /data/${HOSTILE}`),
  },
  doctor_with_escapes: {
    description: 'Controls the terminal through the name of a folder with a policy when doctor runs.',
    attempt: asksDoctor,
    control: (stage) => harmIn(`policy    ${join(stage.project, HOSTILE)}`),
  },
  record_makedirs: {
    description: 'Creates a folder that already exists, so that record proposes the whole workspace.',
    attempt: recordsMakedirs,
    control: grantsParent,
  },
});
