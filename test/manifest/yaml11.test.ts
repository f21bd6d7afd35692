import { expect, it } from 'vitest';
import { parseManifest } from '../../src/manifest/parse.ts';
import { readAsYaml11 } from '../../src/manifest/yaml11.ts';

const HEAD = 'name: a/b\nversion: "1"\ndescription: x\nparameters:\n  default: ';
const warningsFor = (value: string): string[] =>
  parseManifest(HEAD + value, { file: 'manifest.yaml' }).warnings;

it.each([
  ['off', 'the string "off"', 'the boolean false'],
  ['Yes', 'the string "Yes"', 'the boolean true'],
  ['NO', 'the string "NO"', 'the boolean false'],
  ['on', 'the string "on"', 'the boolean true'],
  ['0123', 'the number 123', 'the number 83'],
  ['0o17', 'the number 15', 'the string "0o17"'],
  ['0b11', 'the string "0b11"', 'the number 3'],
  ['1_000', 'the string "1_000"', 'the number 1000'],
  ['12:30:00', 'the string "12:30:00"', 'the number 45000'],
  ['-1:30', 'the string "-1:30"', 'the number -90'],
  ['2026-01-02', 'the string "2026-01-02"', 'the date 2026-01-02'],
  ['1e3', 'the number 1000', 'the string "1e3"'],
])('%s gets a warning with both readings, the path and the line', (value, ours, theirs) => {
  expect(warningsFor(value)).toEqual([
    `parameters.default (line 5): "${value}" is ${ours} here (YAML 1.2) and ${theirs} for YAML 1.1 readers such as PyYAML; quote it to be sure`,
  ]);
});

it.each([
  'y',
  'n',
  'Y',
  'N',
  'true',
  'False',
  'null',
  '~',
  '',
  '5',
  '-5',
  '0',
  '1.5',
  '1.0',
  '.inf',
  '-.INF',
  '.nan',
  '0x1f',
  'offline',
  '"off"',
  "'2026-01-02'",
])('%s gets no warning because both YAML versions read it the same way', (value) => {
  expect(warningsFor(value)).toEqual([]);
});

it('a number that loses its last digit gets a warning', () => {
  expect(warningsFor('1.10')).toEqual([expect.stringContaining('is the number 1.1 here and under YAML 1.1')]);
});

it('keys and list items are checked too', () => {
  expect(warningsFor('{ off: 1, enum: [auto, no] }')).toEqual([
    expect.stringContaining('parameters.default.off (line 5)'),
    expect.stringContaining('parameters.default.enum[1] (line 5)'),
  ]);
});

it('merge keys get a warning', () => {
  expect(warningsFor('{ <<: { a: 1 } }')).toEqual([expect.stringContaining('merge key')]);
});

it('the number of warnings is bounded', () => {
  expect(warningsFor(`[${'off,'.repeat(5000)}]`)).toHaveLength(20);
});

it('sexagesimal fractions are read as PyYAML reads them', () => {
  expect(readAsYaml11('1:30.5')).toBe('the number 90.5');
});
