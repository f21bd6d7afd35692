/**
 * Runs shell commands in a jail without network, under a user id of its own, with programs that only record how they were
 * started. Scripts of skills record that they ran, whoever runs them.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** A user that owns nothing. */
const NOBODY = 54_321;
const SECONDS_PER_COMMAND = 10;
const MARK = 'SKILL-SCRIPT-TEXT';

export interface Fixture {
  root: string;
  home: string;
  project: string;
}

/** One start of a program, or of a script that recorded itself. */
export interface Start {
  /** `stub` is an interpreter, `skillcell` the command, `script` a script of a skill that really ran. */
  by: 'stub' | 'skillcell' | 'script' | 'input';
  cwd: string;
  argv: string[];
}

const INTERPRETERS = [
  'python',
  'python3',
  'python3.11',
  'node',
  'ruby',
  'perl',
  'bash',
  'sh',
  'dash',
  'zsh',
  'deno',
  'npm',
  'npx',
  'make',
  'pytest',
  'ssh',
  'docker',
];

/** Appends a record, all of it at once: name, arguments, each ended by a NUL. */
const RECORD = String.raw`record() { kind=$1; shift; { printf '%s\0' "$kind" "$PWD" "$@"; printf '\001\0'; } >> "$RECORDS/$$"; }`;
const LEAF = `#!/bin/dash
${RECORD}
case "$(basename "$0")" in bash|sh|dash|zsh)
  file=no
  for word in "$@"; do case "$word" in -c|-[a-z]*c|-s) break;; -*) ;; *) file=$word; break;; esac; done
  # Code in an argument or on standard input really runs: whatever it starts is recorded.
  if [ "$file" = no ]; then exec /bin/bash "$@"; fi
  # A shell with a file leaves standard input to that file, which is no script of a skill or is recorded as one.
  case "$file" in /dev/*|/proc/*) ;; *) record stub "$0" "$@"; exit 0;; esac;;
esac
record stub "$0" "$@"
# With a file, code or a module to run, standard input is data; python -i runs it all the same.
input=code skip=no
case "$(basename "$0")" in
  python*|node|ruby|perl)
    for word in "$@"; do
      if [ "$skip" = yes ]; then skip=no; continue; fi
      case "$word" in
        -i|-[a-zA-Z]i|-i[a-zA-Z]) input=code; break;;
        -|/dev/*|/proc/*) break;;
        -W|-X|-r|-I|--require) skip=yes;;
        -*) ;;
        *) input=data; break;;
      esac
    done;;
  make) case " $* " in *" -f - "*|*" -f- "*|*" -f /dev/"*) ;; *) input=data;; esac;;
  npm|npx|pytest) input=data;;
esac
if [ "$input" = data ]; then exit 0; fi
text=$(head -c 65536 | tr -d '\\0')
case "$text" in *${MARK}*|*/skills/*/scripts/*) record input "$0" "$@";; esac
exit 0
`;
const SCRIPTS: Readonly<Record<string, string>> = {
  'run.sh': `#!/bin/dash\n# ${MARK}\n${RECORD}\nrecord script "$0" "$@"\n`,
  'a.py': `# ${MARK}\nimport os, sys\nwith open(os.environ["RECORDS"] + "/" + str(os.getpid()), "a") as out: out.write("\\0".join(["script", os.getcwd()] + sys.argv) + "\\0\\1\\0")\n`,
  'x.js': `// ${MARK}\nrequire('fs').appendFileSync(process.env.RECORDS + '/' + process.pid, ['script', process.cwd(), ...process.argv.slice(1)].join('\\0') + '\\0\\1\\0')\n`,
};

export function makeFixture(): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-hook-')));
  const [home, project] = [join(root, 'home'), join(root, 'home/project')];
  for (const folder of ['.claude/skills/pdf', '.agents/skills/two', 'vendor/odd name', 'notes/plain'])
    makeSkill(join(project, folder));
  // Looks like a skill, but is none.
  rmSync(join(project, 'notes/plain/SKILL.md'));
  for (const name of Object.keys(SCRIPTS)) writeFileSync(join(project, 'notes/plain/scripts', name), '');
  makeSkill(join(home, '.claude/skills/mine'));
  for (const [name, text] of Object.entries({
    'tool.py': 'print(1)',
    'data.csv': '1',
    'in.pdf': '',
    'run.sh': 'true',
    'app.js': '',
    'a b.txt': '',
  }))
    writeFileSync(join(project, name), text);
  mkdirSync(join(project, 'src'));
  symlinkSync('.claude/skills/pdf/scripts/a.py', join(project, 'link.py'));
  symlinkSync('.claude/skills', join(project, 'linked'));
  symlinkSync('.claude/skills/pdf/scripts/x.js', join(project, 'linkjs.js'));
  // A folder that Python can import.
  makeSkill(join(project, 'vendor2/tool'));
  for (const name of INTERPRETERS) writeStub(root, name, LEAF);
  writeStub(root, 'skillcell', `#!/bin/dash\n${RECORD}\nrecord skillcell "$0" "$@"\n`);
  writeStub(
    root,
    'bat',
    '#!/bin/dash\nfor w in "$@"; do case "$w" in --pager=*) "${w#--pager=}";; esac; done\n',
  );
  writeStub(root, 'sudo', '#!/bin/dash\nexec "$@"\n');
  writeStub(root, 'uv', '#!/bin/dash\nshift\ncase "$1" in python*) exec "$@";; *) exec python "$@";; esac\n');
  chmodSync(root, 0o755);
  return { root, home, project };
}

function makeSkill(folder: string): void {
  mkdirSync(join(folder, 'scripts/inner'), { recursive: true });
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'SKILL.md'), `---\nname: ${basename(folder)}\ndescription: A skill\n---\n`);
  writeFileSync(join(folder, 'assets/page.html'), '<p>');
  writeFileSync(join(folder, 'Makefile'), 'all:\n\tbash scripts/run.sh\n');
  for (const [name, text] of Object.entries(SCRIPTS)) {
    writeFileSync(join(folder, 'scripts', name), text);
    chmodSync(join(folder, 'scripts', name), 0o755);
  }
  cpSync(join(folder, 'scripts/a.py'), join(folder, 'scripts/inner/b.py'));
}

function writeStub(root: string, name: string, text: string): void {
  mkdirSync(join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'bin', name), text);
  chmodSync(join(root, 'bin', name), 0o755);
}

export interface Run {
  command: string;
  cwd: string;
}

/** Runs each command in a fresh copy of the fixture, and returns what started. */
export async function runAll({ root, home }: Fixture, runs: readonly Run[]): Promise<Start[][]> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-hook-runs-')));
  try {
    for (const [at, { command, cwd }] of runs.entries()) {
      mkdirSync(join(work, `in/${at}`), { recursive: true });
      mkdirSync(join(work, `out/${at}`), { recursive: true });
      writeFileSync(join(work, `in/${at}/command`), command);
      writeFileSync(join(work, `in/${at}/cwd`), cwd);
      chmodSync(join(work, `out/${at}`), 0o777);
    }
    writeFileSync(join(work, 'in/driver'), driver(root, home, runs.length));
    chmodSync(work, 0o755);
    await runJail(root, work);
    return runs.map((_, at) => readRecords(join(work, `out/${at}`)));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function driver(root: string, home: string, count: number): string {
  return `cd /
for ((i = 0; i < ${count}; i++)); do
  # What an earlier command left in the background may still write there.
  for try in {1..100}; do rm -rf ${root}/home 2>/dev/null && break; sleep 0.1; done
  cp -a /mnt/fixture/home ${root}/home
  command=$(cat /mnt/work/in/$i/command; printf x)
  cd "$(cat /mnt/work/in/$i/cwd)" && timeout -k 1 ${SECONDS_PER_COMMAND} env -i PATH=${root}/bin:/usr/bin:/bin HOME=${home} RECORDS=/mnt/work/out/$i LC_ALL=C.UTF-8 /bin/bash -c "\${command%x}" < /dev/null > /dev/null 2>&1
  cd /
done
echo finished > /mnt/work/out/finished
`;
}

async function runJail(root: string, work: string): Promise<void> {
  const mounts = [
    '--ro-bind',
    '/',
    '/',
    // Commands write there, also where the tests have another temporary folder.
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    tmpdir(),
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/mnt',
    // A login shell would reset PATH.
    '--ro-bind',
    '/dev/null',
    '/etc/profile',
  ];
  const own = ['--tmpfs', root, '--ro-bind', join(root, 'bin'), join(root, 'bin')];
  // The root is read-only, so the mount points are made in a folder that is not.
  const places = ['--ro-bind', join(root), '/mnt/fixture', '--bind', work, '/mnt/work'];
  chmodSync(join(work, 'out'), 0o777);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(
    'bwrap',
    [
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--cap-drop',
      'ALL',
      ...mounts,
      ...places,
      ...own,
      '/bin/bash',
      '/mnt/work/in/driver',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) },
  );
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (errors += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0 || !existsSync(join(work, 'out/finished')))
    throw new Error(`The jail ended with ${code}: ${errors}`);
}

function readRecords(folder: string): Start[] {
  return readdirSync(folder).flatMap((file) => {
    const records = readFileSync(join(folder, file), 'utf8')
      .split('\0\u0001\0')
      .filter((text) => text !== '');
    return records.map((text) => {
      const [by, cwd = '', ...argv] = text.split('\0');
      return { by: by as Start['by'], cwd, argv };
    });
  });
}

/** Whether a start executes a script of a skill outside Skillcell: a script that ran, or an interpreter that got its path. */
export function isLeak({ by, cwd, argv }: Start, { root }: Fixture): boolean {
  if (by === 'skillcell') return false;
  if (by !== 'stub') return true;
  const ownModule = argv.includes('-m') && isInSkill(join(cwd, 'module.py'), root);
  return (
    ownModule ||
    argv
      .slice(1)
      .some(
        (word) =>
          isInSkill(resolve(cwd, word), root) || /\.(?:claude|agents)\/skills\/\w+\/scripts/.test(word),
      )
  );
}

function isInSkill(path: string, root: string): boolean {
  const below = path.slice(root.length);
  const looksLikeOne = /\/(?:skills\/\w+|vendor\/odd name|linked)\/.*\.(?:py|sh|js)$|\/link\.py$/.test(below);
  // Not a name that only resembles the path of a skill.
  return path.startsWith(root) && looksLikeOne && existsSync(dirname(path));
}
