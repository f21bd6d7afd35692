/**
 * Every command with its options and an example. The code of a command is loaded only when it runs.
 *
 * @module
 */
import { ATTACK_TARGETS, BENCHES, TEMPLATE_LANGUAGES } from '../vocabulary/command-choices.ts';
import { namesOf } from '../vocabulary/table.ts';
import { Option } from 'commander';
import { define, withGrantOptions, withPlanOptions, type CliCommand } from './shared-options.ts';
import { addAudit } from './audit-commands.ts';
import { addCluster } from './cluster-commands.ts';
import { addAgents } from './agent-commands.ts';
import { addInstalling } from './install-commands.ts';
import { addPrograms } from './program-commands.ts';
import { addRegistries } from './registry-commands.ts';
import { addShell } from './shell-commands.ts';
import { addService } from './service-commands.ts';
import { addTrust } from './trust-commands.ts';

/** Agents call these most, so they do not wait for the definitions of all others. */
const ALONE: Readonly<Record<string, (program: CliCommand) => void>> = { run: addRun, exec: addExec };

/** `first`: the first word of a command line that is to run; absent: every command is needed. */
export function addCommands(program: CliCommand, first?: string): void {
  const alone = first !== undefined && Object.hasOwn(ALONE, first) ? ALONE[first] : undefined;
  if (alone) return alone(program);
  addRun(program);
  addExec(program);
  addPrograms(program);
  addRecord(program);
  addReading(program);
  addAuthoring(program);
  addChanging(program);
  addInstalling(program);
  addTrust(program);
  addRegistries(program);
  addAgents(program);
  addService(program);
  addCluster(program);
  addAudit(program);
  addChecks(program);
  addStudy(program);
  addShell(program);
}

function addRun(program: CliCommand): void {
  define(program, 'run', 'run a skill once in a fresh sandbox')
    .argument('<skill>', 'folder or id of a skill')
    .use(withPlanOptions, withGrantOptions)
    .option('--params <json>', 'parameters as JSON, or @file (default: read stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON; - for stdin')
    .json('print the whole outcome, not only the result')
    .option(
      '--explain',
      'print the grant and how it is enforced before the call, and every decision after it',
    )
    .option('--keep-content', 'store parameters and result in the receipt instead of only their digests')
    .example(`run optimization/prompt_rewriter --params '{"raw_text": "Please   summarize this"}'`)
    .runs(async () => (await import('./commands/run.ts')).run);
}

function addExec(program: CliCommand): void {
  define(
    program,
    'exec',
    "run a command of an Agent Skills folder in a fresh sandbox; output and exit code are the command's",
  )
    .argument('<skill>', 'folder or id of an Agent Skills folder')
    .use(withPlanOptions, withGrantOptions)
    .argument('<command...>', 'the command, after --')
    .json('print the whole outcome instead of the output of the command')
    .option('--no-stdin', 'give the command an empty standard input, and do not wait for ours to end')
    .option('--keep-content', 'store command and output in the receipt instead of only their digests')
    .example('exec ./skills/pdf --workspace . -- python scripts/check_fillable_fields.py form.pdf')
    .afterDashes()
    .runs(async () => (await import('./commands/exec.ts')).exec);
}

function addRecord(program: CliCommand): void {
  define(
    program,
    'record',
    'run a skill once, deny everything you do not allow, and print the manifest or overlay that it needs',
  )
    .argument('<skill>', 'folder or id of a skill')
    .use(withPlanOptions)
    .argument('[command...]', 'after "--": command of an Agent Skills folder')
    .option('--params <json>', 'parameters as JSON, or @file (default: read stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON; - for stdin')
    .option('--allow-network', 'allow requests to all public hosts')
    .repeatable('--allow-read <path>', 'file or folder the skill may read: in the workspace, or absolute')
    .repeatable('--allow-write <path>', 'folder the skill may write to: in the workspace, or absolute')
    .repeatable('--allow-env <name>', 'environment variable the skill may read')
    .repeatable('--allow-secret <name>', 'secret the skill may send but not read')
    .option('--allow-processes <n>', 'number of processes the skill may start', Number)
    .repeatable('--allow-skill <glob>', 'skill that it may call, such as text/*')
    .repeatable('--allow-program <name>', 'system program that the command may start')
    .option('--write', 'write the manifest or overlay instead of only printing the diff')
    .json('print JSON: observations, manifest, diff, unused permissions')
    .example("record ./my_skill --params '{}' --allow-network --allow-secret API_KEY")
    .afterDashes()
    .runs(async () => {
      const { record } = await import('./commands/record.ts');
      return (skill: string, command: string[], options: object) => record(skill, options, command);
    });
}

function addReading(program: CliCommand): void {
  define(
    program,
    'list',
    'list the known skills: bundled, from this project, installed, and in the folders of agents',
  )
    .repeatable(
      '--skills <glob>',
      'only skills whose id matches, such as "finance/*", or that are in a folder, such as ./vendor',
    )
    .json()
    .example('list')
    .runs(async () => (await import('./commands/list.ts')).list);
  define(
    program,
    'inspect <skill>',
    'show what a skill declares, what a call would be granted, and what enforces the grant',
  )
    .use(withPlanOptions, withGrantOptions)
    .json()
    .example('inspect optimization/prompt_rewriter')
    .runs(async () => (await import('./commands/inspect.ts')).inspect);
  define(
    program,
    'validate <skill>',
    'check the manifest, schemas, lock and code of a skill without running it',
  )
    .json()
    .example('validate ./my_skill')
    .runs(async () => (await import('./commands/validate.ts')).validate);
}

function addAuthoring(program: CliCommand): void {
  define(program, 'init', 'create a new, working skill from a template or an existing script')
    .argument('<name>', 'id of the new skill: category/name')
    .choice('--lang <language>', 'language of the template', TEMPLATE_LANGUAGES)
    .option('--from <script>', 'existing script (.py, .ts, .js) to make the skill of, instead of a template')
    .option('--dir <folder>', 'folder to create (default: skills/<name>)')
    .json()
    .example('init text/shout --lang rust')
    .runs(async () => (await import('./commands/init.ts')).init);
  define(
    program,
    'test <skill>',
    'run the test cases of a skill (cases.json), each in a fresh sandbox, and compare the results',
  )
    .use(withPlanOptions)
    .json('print JSON: each case with its outcome')
    .example('test text/word_stats')
    .runs(async () => (await import('./commands/test.ts')).test);
  define(
    program,
    'build [skill]',
    'compile a skill with your own compilers, and build or fetch its container image',
  )
    .choice('--base <language>', 'build the base image for containers instead', ['python'])
    .option('--with <packages...>', 'with --base: Debian packages to add, for the scripts of a skill')
    .option('--name <name>', 'with --with: the image is localhost/skillcell-<name>')
    .json()
    .example('build skills/text/shout')
    .runs(async () => (await import('./commands/build.ts')).build);
}

function addChanging(program: CliCommand): void {
  define(
    program,
    'lock <skill>',
    'write skill.lock: the digest of every file, the capability set, the findings of the inspection',
  )
    .json()
    .example('lock ./my_skill')
    .runs(async () => (await import('./commands/lock.ts')).lock);
}

function addChecks(program: CliCommand): void {
  define(program, 'doctor', 'show what runs on this machine, what does not, and the step that adds most')
    .option('--verbose', 'also show, for each mode, what enforces each limit and capability')
    .json()
    .example('doctor')
    .runs(async () => (await import('./commands/doctor.ts')).doctor);
  define(program, 'attack', 'run the attack corpus on this machine and show which attacks were stopped')
    .addOption(
      new Option(
        '--mode <mode>',
        'target: the cells of a mode, the decisions before a call (trust), or commands and services (edges)',
      )
        .choices(ATTACK_TARGETS)
        .default('subprocess'),
    )
    .option('--only <names>', 'only these attacks (comma-separated)')
    .json()
    .example('attack --mode subprocess')
    .runs(async () => (await import('./commands/attack.ts')).attack);
  define(
    program,
    'bench',
    'measure the cost of a call on this machine: a jail next to plain python3, Wasm, Python in Wasm, and requests',
  )
    .choice('--only <bench>', 'run only this benchmark', namesOf(BENCHES))
    .option('--rounds <n>', 'number of measurements', '40')
    .option('--seconds <n>', 'duration of each load test in seconds', '5')
    .json()
    .example('bench --rounds 20')
    .runs(async () => (await import('./commands/bench.ts')).bench);
}

function addStudy(program: CliCommand): void {
  define(
    program,
    'study',
    'run every skill of a folder in every mode of this machine; report dependencies, differing results and costs',
  )
    .argument('<folder>', 'folder that contains skills')
    .option('--out <folder>', 'also write study.md and study.json there')
    .option('--cases <folder>', 'test cases for skills that have none: <category>/<name>.json')
    .option('--calls <n>', 'number of timed calls per skill and mode', '5')
    .option('--seconds <n>', 'time limit per skill in seconds', '120')
    .json()
    .example('study ./skills --out ./study')
    .runs(async () => (await import('./commands/study.ts')).study);
}
