/**
 * Attacks on the person at the terminal: by every field that a command prints, and by what `record` proposes.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Outcome } from '../../src/outcome.ts';
import { asUser, CONTROL } from '../runner/identities.ts';
import { group, type Careless, type TrustAttack } from '../trust/attack.ts';
import { asOutcome, type BundleText, type TrustStage } from '../trust/stage.ts';
import { command, didNotRun, harmIn, HOSTILE, judgeWords, type Shown } from './words.ts';

const run = promisify(execFile);
const WORDS = JSON.stringify(HOSTILE);

type Entry = Omit<TrustAttack, 'name' | 'codes' | 'limits'>;

const bundleOf = (stage: TrustStage): string => join(stage.project, 'skills', stage.skill);

/** A skill of the project, and a command that shows something of it. */
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

/** A program that prints the field as it is. */
const printsField =
  (field: string): Careless =>
  (stage) => {
    const manifest = parse(readFileSync(join(bundleOf(stage), 'manifest.yaml'), 'utf8')) as Record<
      string,
      string
    >;
    return harmIn(`${stage.skill}  ${manifest[field] ?? ''}`);
  };

/** A program that imports the skill and prints what comes of it as it is. */
const printsCall: Careless = async (stage) => {
  const program = `const { execute } = await import(${JSON.stringify(join(bundleOf(stage), 'skill.js'))});
    try { console.log(JSON.stringify(execute({}))); } catch (error) { console.log(error.message); }`;
  const args = ['--no-warnings', '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, {
    ...asUser(CONTROL),
    cwd: '/',
    env: {},
    timeout: 20_000,
  });
  return harmIn(stdout);
};

const runs = (stage: TrustStage): string[] => ['run', stage.skill, '--params', '{}'];

/** Asks for a file whose name is hostile, so that the denial has the name. */
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

/** A folder that somebody unpacked, with a policy: the command says where the policy lies. */
async function asksDoctor(stage: TrustStage): Promise<Outcome> {
  const folder = join(stage.project, HOSTILE);
  mkdirSync(folder);
  writeFileSync(join(folder, 'skillcell.policy.yaml'), '{}\n');
  const { stdout, stderr } = await command(stage, ['doctor'], folder);
  return judgeWords(stdout + stderr);
}

/** Makes a folder that is there already, which is no write. */
const MAKES_FOLDER = `import os\ndef execute(params):\n    os.makedirs("/workspace/out", exist_ok=True)\n    open("/workspace/out/a.txt", "w").write("x")\n    return {}\n`;

async function recordsMakedirs(stage: TrustStage): Promise<Outcome> {
  const out = join(stage.project, 'out');
  mkdirSync(out, { recursive: true });
  chmodSync(out, 0o777);
  stage.write(bundleOf(stage), native(MAKES_FOLDER));
  const args = ['record', stage.skill, '--params', '{}', '--workspace', '.', '--allow-write', 'out'];
  const { stdout, stderr }: Shown = await command(stage, args);
  return asOutcome(() => {
    // What it would be granted, in added lines alone.
    const added = stdout
      .split('\n')
      .filter((line) => line.startsWith('+'))
      .join('\n');
    if (!added.includes('${workspace}/out')) throw didNotRun(`nothing was proposed: ${stdout}${stderr}`);
    const isWide = /\$\{workspace\}\/?["' ,}]/.test(added);
    return { succeeded: isWide, evidence: added.slice(0, 200) };
  });
}

/** Takes the folder in which something was made for the folder that is needed. */
const grantsParent: Careless = () => {
  const made = '/workspace/out';
  const proposed = made.slice(0, made.lastIndexOf('/')).replace('/workspace', '${workspace}');
  return proposed === '${workspace}'
    ? 'the whole workspace is proposed for a mkdir that found its folder'
    : undefined;
};

export const TERMINAL_ATTACKS: readonly TrustAttack[] = group(['ok'], {
  list_with_escapes: shows(
    'Steers the terminal by its description when skills are listed.',
    { manifest: { description: HOSTILE } },
    { args: () => ['list'], control: printsField('description') },
  ),
  list_short_with_escapes: shows(
    'Steers the terminal by its short description when skills are listed.',
    { manifest: { short_description: HOSTILE } },
    { args: () => ['list'], control: printsField('short_description') },
  ),
  inspect_with_escapes: shows(
    'Steers the terminal, and forges lines of ours, when it is inspected.',
    { manifest: { description: HOSTILE } },
    { args: (stage) => ['inspect', stage.skill], control: printsField('description') },
  ),
  result_with_escapes: shows(
    'Steers the terminal by its result, also by codes that JSON does not escape.',
    { code: `export function execute() { return { [${WORDS}]: ${WORDS} }; }` },
    { args: runs, control: printsCall },
  ),
  error_with_forged_fix: shows(
    'Throws an error whose further lines look like a fix and a receipt of ours.',
    { code: `export function execute() { throw new Error(${WORDS}); }` },
    { args: runs, control: printsCall },
  ),
  log_with_forged_lines: shows(
    'Prints lines to its log that look like warnings and denials of ours.',
    { code: `export function execute() { console.log(${WORDS}); return {}; }` },
    { args: runs, control: printsCall },
  ),
  receipt_with_escapes: {
    description: 'Steers the terminal by the name of a denied file when its receipt is shown.',
    attempt: showReceipt,
    control: () => harmIn(`denied  read /data/${HOSTILE}`),
  },
  doctor_with_escapes: {
    description: 'Steers the terminal by the name of a folder with a policy when the machine is examined.',
    attempt: asksDoctor,
    control: (stage) => harmIn(`policy    ${join(stage.project, HOSTILE)}`),
  },
  record_makedirs: {
    description: 'Makes a folder that is there already, so that record proposes the whole workspace.',
    attempt: recordsMakedirs,
    control: grantsParent,
  },
});
