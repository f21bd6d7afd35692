/**
 * Every command with its options and an example. The code of a command is loaded only when it runs.
 *
 * @module
 */
import { ATTACK_TARGETS, BENCHES, TEMPLATE_LANGUAGES } from '../vocabulary/command-choices.ts';
import { namesOf } from '../vocabulary/table.ts';
import { Option, type Command } from 'commander';
import {
  assertSeparated,
  collect,
  example,
  withGrantOptions,
  withPlanOptions,
  type Done,
} from './shared-options.ts';
import type { BenchFlags } from './commands/bench.ts';
import type { BuildFlags } from './commands/build.ts';
import type { InitFlags } from './commands/init.ts';
import type { StudyFlags } from './commands/study.ts';
import { addAudit } from './audit-commands.ts';
import { addCluster } from './cluster-commands.ts';
import { addAgents } from './agent-commands.ts';
import { addInstalling } from './install-commands.ts';
import { addPrograms } from './program-commands.ts';
import { addRegistries } from './registry-commands.ts';
import { addShell } from './shell-commands.ts';
import { addService } from './service-commands.ts';
import { addTrust } from './trust-commands.ts';

export function addCommands(program: Command, done: Done): void {
  addRun(program, done);
  addExec(program, done);
  addPrograms(program, done);
  addRecord(program, done);
  addReading(program, done);
  addAuthoring(program, done);
  addChanging(program, done);
  addInstalling(program, done);
  addTrust(program, done);
  addRegistries(program, done);
  addAgents(program, done);
  addService(program, done);
  addCluster(program, done);
  addAudit(program, done);
  addChecks(program, done);
  addStudy(program, done);
  addShell(program, done);
}

function addRun(program: Command, done: Done): void {
  withGrantOptions(withPlanOptions(program.command('run').argument('<skill>', 'folder or id of a skill')))
    .description('run a skill once in a fresh sandbox')
    .option('--params <json>', 'parameters as JSON, or @file (default: read stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON; - for stdin')
    .option('--json', 'print the whole outcome, not only the result')
    .option(
      '--explain',
      'print the grant and how it is enforced before the call, and every decision after it',
    )
    .option('--keep-content', 'store parameters and result in the receipt instead of only their digests')
    .addHelpText(
      'after',
      example(`run optimization/prompt_rewriter --params '{"raw_text": "Please   summarize this"}'`),
    )
    .action(async (skill: string, options: object) => {
      const { run } = await import('./commands/run.ts');
      done(await run(skill, options));
    });
}

function addExec(program: Command, done: Done): void {
  withGrantOptions(
    withPlanOptions(program.command('exec').argument('<skill>', 'folder or id of an Agent Skills folder')),
  )
    .argument('<command...>', 'the command, after --')
    .description(
      "run a command of an Agent Skills folder in a fresh sandbox; output and exit code are the command's",
    )
    .option('--json', 'print the whole outcome instead of the output of the command')
    .option('--no-stdin', 'give the command an empty standard input, and do not wait for ours to end')
    .option('--keep-content', 'store command and output in the receipt instead of only their digests')
    .addHelpText(
      'after',
      example('exec ./skills/pdf --workspace . -- python scripts/check_fillable_fields.py form.pdf'),
    )
    .action(async (skill: string, command: string[], ...[options, self]: [object, Command]) => {
      assertSeparated(self, command);
      const { exec } = await import('./commands/exec.ts');
      done(await exec(skill, command, options));
    });
}

function addRecord(program: Command, done: Done): void {
  withPlanOptions(program.command('record').argument('<skill>', 'folder or id of a skill'))
    .argument('[command...]', 'after "--": command of an Agent Skills folder')
    .description(
      'run a skill once, deny everything you do not allow, and print the manifest or overlay that it needs',
    )
    .option('--params <json>', 'parameters as JSON, or @file (default: read stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON; - for stdin')
    .option('--allow-network', 'allow requests to all public hosts')
    .option(
      '--allow-read <path>',
      'file or folder the skill may read: in the workspace, or absolute; repeatable',
      collect,
    )
    .option(
      '--allow-write <path>',
      'folder the skill may write to: in the workspace, or absolute; repeatable',
      collect,
    )
    .option('--allow-env <name>', 'environment variable the skill may read; repeatable', collect)
    .option('--allow-secret <name>', 'secret the skill may send but not read; repeatable', collect)
    .option('--allow-processes <n>', 'number of processes the skill may start', Number)
    .option('--allow-program <name>', 'system program that the command may start; repeatable', collect)
    .option('--write', 'write the manifest or overlay instead of only printing the diff')
    .option('--json', 'print JSON: observations, manifest, diff, unused permissions')
    .addHelpText('after', example("record ./my_skill --params '{}' --allow-network --allow-secret API_KEY"))
    .action(async (skill: string, command: string[], ...[options, self]: [object, Command]) => {
      assertSeparated(self, command);
      const { record } = await import('./commands/record.ts');
      done(await record(skill, options, command));
    });
}

function addReading(program: Command, done: Done): void {
  program
    .command('list')
    .description('list the known skills: bundled, from this project, installed, and in the folders of agents')
    .option(
      '--skills <glob>',
      'only skills whose id matches, such as "finance/*", or that are in a folder, such as ./vendor; repeatable',
      collect,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('list'))
    .action(async (options: object) => {
      const { list } = await import('./commands/list.ts');
      done(await list(options));
    });
  withGrantOptions(withPlanOptions(program.command('inspect').argument('<skill>')))
    .description('show what a skill declares, what a call would be granted, and what enforces the grant')
    .option('--json', 'print JSON')
    .addHelpText('after', example('inspect optimization/prompt_rewriter'))
    .action(async (skill: string, options: object) => {
      const { inspect } = await import('./commands/inspect.ts');
      done(await inspect(skill, options));
    });
  program
    .command('validate')
    .argument('<skill>')
    .description('check the manifest, schemas, lock and code of a skill without running it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('validate ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { validate } = await import('./commands/validate.ts');
      done(await validate(skill, options));
    });
}

function addAuthoring(program: Command, done: Done): void {
  program
    .command('init')
    .argument('<name>', 'id of the new skill: category/name')
    .addOption(new Option('--lang <language>', 'language of the template').choices(TEMPLATE_LANGUAGES))
    .option('--from <script>', 'existing script (.py, .ts, .js) to make the skill of, instead of a template')
    .option('--dir <folder>', 'folder to create (default: skills/<name>)')
    .description('create a new, working skill from a template or an existing script')
    .option('--json', 'print JSON')
    .addHelpText('after', example('init text/shout --lang rust'))
    .action(async (name: string, options: InitFlags) => {
      const { init } = await import('./commands/init.ts');
      done(await init(name, options));
    });
  withPlanOptions(program.command('test').argument('<skill>'))
    .description(
      'run the test cases of a skill (cases.json), each in a fresh sandbox, and compare the results',
    )
    .option('--json', 'print JSON: each case with its outcome')
    .addHelpText('after', example('test text/word_stats'))
    .action(async (skill: string, options: object) => {
      const { test } = await import('./commands/test.ts');
      done(await test(skill, options));
    });
  program
    .command('build')
    .argument('[skill]')
    .addOption(
      new Option('--base <language>', 'build the base image for containers instead').choices(['python']),
    )
    .option('--with <packages...>', 'with --base: Debian packages to add, for the scripts of a skill')
    .option('--name <name>', 'with --with: the image is localhost/skillcell-<name>')
    .description('compile a skill with your own compilers, and build or fetch its container image')
    .option('--json', 'print JSON')
    .addHelpText('after', example('build skills/text/shout'))
    .action(async (skill: string | undefined, options: BuildFlags) => {
      const { build } = await import('./commands/build.ts');
      done(await build(skill, options));
    });
}

function addChanging(program: Command, done: Done): void {
  program
    .command('lock')
    .argument('<skill>')
    .description(
      'write skill.lock: the digest of every file, the capability set, the findings of the inspection',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('lock ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { lock } = await import('./commands/lock.ts');
      done(await lock(skill, options));
    });
}

function addChecks(program: Command, done: Done): void {
  program
    .command('doctor')
    .description('show what runs on this machine, what does not, and the step that adds most')
    .option('--verbose', 'also show, for each mode, what enforces each limit and capability')
    .option('--json', 'print JSON')
    .addHelpText('after', example('doctor'))
    .action(async (options: object) => {
      const { doctor } = await import('./commands/doctor.ts');
      done(await doctor(options));
    });
  program
    .command('attack')
    .description('run the attack corpus on this machine and show which attacks were stopped')
    .addOption(
      new Option(
        '--mode <mode>',
        'target: the cells of a mode, the decisions before a call (trust), or commands and services (edges)',
      )
        .choices(ATTACK_TARGETS)
        .default('subprocess'),
    )
    .option('--only <names>', 'only these attacks (comma-separated)')
    .option('--json', 'print JSON')
    .addHelpText('after', example('attack --mode subprocess'))
    .action(async (options: object) => {
      const { attack } = await import('./commands/attack.ts');
      done(await attack(options));
    });
  program
    .command('bench')
    .description(
      'measure the cost of a call on this machine: a jail next to plain python3, Wasm, Python in Wasm, and requests',
    )
    .addOption(new Option('--only <bench>', 'run only this benchmark').choices(namesOf(BENCHES)))
    .option('--rounds <n>', 'number of measurements', '40')
    .option('--seconds <n>', 'duration of each load test in seconds', '5')
    .option('--json', 'print JSON')
    .addHelpText('after', example('bench --rounds 20'))
    .action(async (options: BenchFlags) => {
      const { bench } = await import('./commands/bench.ts');
      done(await bench(options));
    });
}

function addStudy(program: Command, done: Done): void {
  program
    .command('study')
    .argument('<folder>', 'folder that contains skills')
    .description(
      'run every skill of a folder in every mode of this machine; report dependencies, differing results and costs',
    )
    .option('--out <folder>', 'also write study.md and study.json there')
    .option('--cases <folder>', 'test cases for skills that have none: <category>/<name>.json')
    .option('--calls <n>', 'number of timed calls per skill and mode', '5')
    .option('--seconds <n>', 'time limit per skill in seconds', '120')
    .option('--json', 'print JSON')
    .addHelpText('after', example('study ./skills --out ./study'))
    .action(async (folder: string, options: StudyFlags) => {
      const { study } = await import('./commands/study.ts');
      done(await study(folder, options));
    });
}
