/**
 * Generates shell commands from a grammar: scripts of skills and other files, quoted in many ways, in all kinds of commands.
 *
 * @module
 */
import * as fc from 'fast-check';

const PATHS = [
  '.claude/skills/pdf/scripts/run.sh',
  '.claude/skills/pdf/scripts/run.sh',
  './.agents/skills/two/scripts/run.sh',
  'scripts/run.sh',
  'run.sh',
  'notes/plain/scripts/run.sh',
  'linked/pdf/scripts/run.sh',
  'src/../.claude/skills/pdf/scripts/run.sh',
];
const FOLDERS = [
  '.claude/skills/pdf',
  '.claude',
  '.claude/skills',
  'src',
  '.',
  '..',
  'notes/plain',
  '/tmp',
  'missing',
];

/** One character, written in one of the ways that mean the same. */
function spelled(char: string, way: number): string {
  if (way === 0 || char === '\n') return `'${char}'`;
  if (way === 1) return `"${char}"`;
  if (way === 2) return `\\${char}`;
  if (way === 3) return String.raw`$'\x` + `${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}'`;
  return char;
}

/** The same text with some characters quoted. */
function quoted(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(text, fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 4 })), { maxLength: 3 }))
    .map(([plain, ways]) =>
      Array.from(plain, (char) => char)
        .map((char, at) => spelled(char, ways.find(([place]) => place === at)?.[1] ?? 9))
        .join(''),
    );
}

export function commandArbitrary(project: string): fc.Arbitrary<string> {
  const path = fc.constantFrom(
    ...PATHS,
    `${project}/.claude/skills/pdf/scripts/run.sh`,
    '~/.claude/skills/mine/scripts/run.sh',
  );
  const word = fc.oneof(
    quoted(fc.constantFrom('x', 'a b', "it's", '-c', '--', 'data.csv')),
    fc.constantFrom('"$HOME"', '$UNSET', '*.csv', '{1,2}', '"$(echo hi)"', "'$x'"),
  );
  const script = fc.oneof(
    { weight: 6, arbitrary: quoted(path) },
    { weight: 1, arbitrary: path.map((text) => `"$(echo ${text})"`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '$S/scripts/run.sh',
        '"$S"/scripts/run.sh',
        '.cl*/skills/pdf/scripts/run.sh',
        '$f',
        '-',
      ),
    },
  );
  const program = fc.constantFrom(
    'bash',
    'sh',
    'python',
    'python3',
    'node',
    '/bin/bash',
    'bash -e',
    'python -u',
    '.',
    'source',
    'cat',
    'ls',
    'echo',
    'make',
    'bash -s',
    '',
  );
  const prefix = fc.constantFrom(
    '',
    '',
    '',
    'A=1 ',
    'env A=1 ',
    'timeout 9 ',
    'nohup ',
    'command ',
    'exec ',
    '! ',
    'time ',
    'xargs ',
    'xargs -n1 ',
    'sudo ',
    'builtin ',
  );
  const suffix = fc.constantFrom(
    '',
    '',
    '',
    ' > out.txt',
    ' 2>&1',
    ' < data.csv',
    ' <<< text',
    ' < .claude/skills/pdf/scripts/run.sh',
  );
  const run = fc
    .tuple(prefix, program, script, fc.array(word, { maxLength: 3 }), suffix)
    .map(
      ([before, name, file, args, after]) =>
        `${before}${[name, file, ...args].filter((text) => text !== '').join(' ')}${after}`,
    );
  const other = fc.oneof(
    fc.constantFrom(...FOLDERS).map((folder) => `cd ${folder}`),
    fc.constantFrom(
      'S=.claude/skills/pdf',
      'S=src',
      'export S=.claude/skills/pdf',
      'cat',
      'bash',
      'true',
      'false',
      'ls .claude/skills/pdf',
      'xargs bash',
      'tee out.sh',
      'echo .claude/skills/pdf/scripts/run.sh',
      'bash out.sh',
      'pushd .claude/skills/pdf',
      'cd -',
      'ln -s .claude/skills c',
    ),
  );
  const simple = fc.oneof({ weight: 3, arbitrary: run }, { weight: 2, arbitrary: other });
  const chain = fc
    .array(fc.tuple(simple, fc.constantFrom(' && ', ' || ', '; ', ' | ', '\n', ' & ')), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) =>
      parts.map(([text, operator], at) => (at === parts.length - 1 ? text : text + operator)).join(''),
    );
  return fc.tuple(chain, fc.nat({ max: 15 })).map(([text, shape]) => wrapped(text, shape));
}

function wrapped(text: string, shape: number): string {
  const single = `'${text.replaceAll("'", String.raw`'\''`)}'`;
  switch (shape) {
    case 0:
      return `(${text})`;
    case 1:
      return `{ ${text}\n}`;
    case 2:
      return `if true; then ${text}\nfi`;
    case 3:
      return `for f in a .claude/skills/pdf/scripts/run.sh; do ${text}\ndone`;
    case 4:
      return `bash -c ${single}`;
    case 5:
      return `eval ${single}`;
    case 6:
      return `X=$(${text}\n); echo "$X"`;
    case 7:
      return `cat <<END\n$(${text}\n)\nEND`;
    case 8:
      return `bash <<'END'\n${text}\nEND`;
    default:
      return text;
  }
}
