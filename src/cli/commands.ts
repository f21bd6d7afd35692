/**
 * Every command with its options and an example. The code behind a command is loaded when it is used.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { collected, example, withPlanOptions, type Done } from './shared-options.ts';
import type { BenchFlags } from './commands/bench.ts';
import type { StudyFlags } from './commands/study.ts';
import { addAgents } from './agent-commands.ts';
import { addService } from './service-commands.ts';
import { addTrust } from './trust-commands.ts';

const LANGUAGES = ['rust', 'go', 'c', 'typescript', 'python'];

export function addCommands(program: Command, done: Done): void {
  addRun(program, done);
  addRecord(program, done);
  addReading(program, done);
  addAuthoring(program, done);
  addChanging(program, done);
  addTrust(program, done);
  addAgents(program, done);
  addService(program, done);
  addAudit(program, done);
  addChecks(program, done);
  addStudy(program, done);
}

function addRun(program: Command, done: Done): void {
  withPlanOptions(program.command('run').argument('<skill>', 'folder of a skill, or its id'))
    .description('run a skill once, in a fresh cell')
    .option('--params <json>', 'parameters as JSON (default: read from stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON')
    .option('--json', 'print the whole outcome, not only the result')
    .option('--explain', 'print the grant and who enforces it before running, and every decision after it')
    .option('--keep-content', 'store parameters and result in the receipt, not only their digests')
    .addHelpText(
      'after',
      example(`run optimization/prompt_rewriter --params '{"raw_text": "Please   summarize this"}'`),
    )
    .action(async (skill: string, options: object) => {
      const { run } = await import('./commands/run.ts');
      done(await run(skill, options));
    });
}

function addRecord(program: Command, done: Done): void {
  withPlanOptions(program.command('record').argument('<skill>', 'folder of a skill, or its id'))
    .description(
      'run a skill once with everything denied but what you allow, and print the manifest that it needs',
    )
    .option('--params <json>', 'parameters as JSON (default: read from stdin)')
    .option('--params-file <file>', 'file with the parameters as JSON')
    .option('--allow-network', 'let requests through to all public hosts')
    .option('--allow-read <path>', 'a folder or file that may be read; may be repeated', collected)
    .option('--allow-write <path>', 'a folder that may be changed; may be repeated', collected)
    .option('--allow-env <name>', 'a variable that the skill gets to see; may be repeated', collected)
    .option('--allow-secret <name>', 'a secret that it may send, but not see; may be repeated', collected)
    .option('--allow-processes <n>', 'how many processes it may start', Number)
    .option('--write', 'write the manifest, not only print the difference')
    .option('--json', 'print JSON: what was observed, the manifest, the difference, what is unused')
    .addHelpText('after', example("record ./my_skill --params '{}' --allow-network --allow-secret API_KEY"))
    .action(async (skill: string, options: object) => {
      const { record } = await import('./commands/record.ts');
      done(await record(skill, options));
    });
}

function addReading(program: Command, done: Done): void {
  program
    .command('list')
    .description('list the known skills: bundled, of this project, installed')
    .option('--json', 'print JSON')
    .addHelpText('after', example('list'))
    .action(async (options: object) => {
      const { list } = await import('./commands/list.ts');
      done(await list(options));
    });
  withPlanOptions(program.command('inspect').argument('<skill>'))
    .description('show what a skill declares, what a call would be granted, and who enforces it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('inspect optimization/prompt_rewriter'))
    .action(async (skill: string, options: object) => {
      const { inspect } = await import('./commands/inspect.ts');
      done(await inspect(skill, options));
    });
  program
    .command('validate')
    .argument('<skill>')
    .description('check manifest, schemas, lock and code of a skill without running it')
    .addHelpText('after', example('validate ./my_skill'))
    .action(async (skill: string) => {
      const { validate } = await import('./commands/validate.ts');
      done(await validate(skill));
    });
}

function addAuthoring(program: Command, done: Done): void {
  program
    .command('init')
    .argument('<name>', 'id of the new skill: category/name')
    .addOption(
      new Option('--lang <language>', 'language to write it in').choices(LANGUAGES).makeOptionMandatory(),
    )
    .option('--dir <folder>', 'where to put it (default: skills/<name>)')
    .description('write a new skill that works, to start from')
    .addHelpText('after', example('init text/shout --lang rust'))
    .action(async (name: string, options: { lang: string; dir?: string }) => {
      const { init } = await import('./commands/init.ts');
      done(await init(name, options));
    });
  withPlanOptions(program.command('test').argument('<skill>'))
    .description('run the cases of a skill (cases.json) in fresh cells and compare what they give')
    .option('--json', 'print JSON: every case with its outcome')
    .addHelpText('after', example('test text/word_stats'))
    .action(async (skill: string, options: object) => {
      const { test } = await import('./commands/test.ts');
      done(await test(skill, options));
    });
  program
    .command('build')
    .argument('[skill]')
    .addOption(
      new Option('--base <language>', 'build a base image for containers instead').choices(['python']),
    )
    .description(
      'compile the source of a skill with your own compilers, and build or fetch its container image',
    )
    .addHelpText('after', example('build skills/text/shout'))
    .action(async (skill: string | undefined, options: { base?: string }) => {
      const { build } = await import('./commands/build.ts');
      done(await build(skill, options));
    });
}

function addChanging(program: Command, done: Done): void {
  program
    .command('lock')
    .argument('<skill>')
    .description('write skill.lock: digests of every file, the capability set, what inspection found')
    .addHelpText('after', example('lock ./my_skill'))
    .action(async (skill: string) => {
      const { lock } = await import('./commands/lock.ts');
      done(await lock(skill));
    });
  program
    .command('install')
    .argument('<skill>')
    .description('install a skill and its requirements (wheels only, no code of them runs)')
    .option('--replace', 'let it take the place of another skill that is installed under its name')
    .addHelpText('after', example('install ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { install } = await import('./commands/install.ts');
      done(await install(skill, options));
    });
}

function addAudit(program: Command, done: Done): void {
  const audit = program.command('audit').description('receipts of past calls');
  audit
    .command('list', { isDefault: true })
    .description('newest receipts first')
    .option('--limit <n>', 'how many', '20')
    .option('--skill <name>', 'only of this skill')
    .option('--denied', 'only calls with denials')
    .option('--json', 'print JSON')
    .addHelpText('after', example('audit list --denied'))
    .action(async (options: object) => {
      const { auditList } = await import('./commands/audit.ts');
      done(await auditList(options));
    });
  audit
    .command('show')
    .argument('<id>', 'call id')
    .description('one receipt, whole')
    .addHelpText('after', example('audit show 01JD8Z5K3V9T4S7Q2M6N0P1R8W'))
    .action(async (id: string) => {
      const { auditShow } = await import('./commands/audit.ts');
      done(await auditShow(id));
    });
  audit
    .command('verify')
    .description('check the hash chain over all receipts')
    .option('--head <hash>', 'a head that was printed earlier: notices a cut or rebuilt log')
    .addHelpText('after', example('audit verify'))
    .action(async (options: object) => {
      const { auditVerify } = await import('./commands/audit.ts');
      done(await auditVerify(options));
    });
}

function addChecks(program: Command, done: Done): void {
  program
    .command('doctor')
    .description('show for every mode what is enforced by what on this machine')
    .option('--json', 'print JSON')
    .addHelpText('after', example('doctor'))
    .action(async (options: object) => {
      const { doctor } = await import('./commands/doctor.ts');
      done(await doctor(options));
    });
  program
    .command('attack')
    .description('run the attack corpus against this machine and print what was stopped')
    .addOption(
      new Option(
        '--mode <mode>',
        'what to attack: cells of a mode, decisions in front of them, or commands and services',
      )
        .choices(['subprocess', 'wasm', 'container', 'trust', 'edges'])
        .default('subprocess'),
    )
    .option('--only <names>', 'only these attacks, separated by commas')
    .option('--json', 'print JSON')
    .addHelpText('after', example('attack --mode subprocess'))
    .action(async (options: object) => {
      const { attack } = await import('./commands/attack.ts');
      done(await attack(options));
    });
  program
    .command('bench')
    .description(
      'measure on this machine what a call costs: in a jail beside plain python3, in a Wasm cell, Python in Wasm, and requests',
    )
    .addOption(
      new Option('--only <bench>', 'measure this alone').choices([
        'subprocess',
        'wasm',
        'python-wasm',
        'gateway',
        'container',
      ]),
    )
    .option('--rounds <n>', 'how often everything is measured', '40')
    .option('--seconds <n>', 'how long calls are made at full load', '5')
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
    .argument('<folder>', 'folder with skills below it')
    .description(
      'try every skill of a folder in every mode of this machine: what it depends on, whether results agree, what it costs',
    )
    .option('--out <folder>', 'also write study.md and study.json there')
    .option('--cases <folder>', 'cases for skills that bring none: <category>/<name>.json')
    .option('--calls <n>', 'how many calls are timed per skill and mode', '5')
    .option('--seconds <n>', 'the most time for one skill', '120')
    .option('--json', 'print JSON')
    .addHelpText('after', example('study ./skills --out ./study'))
    .action(async (folder: string, options: StudyFlags) => {
      const { study } = await import('./commands/study.ts');
      done(await study(folder, options));
    });
}
