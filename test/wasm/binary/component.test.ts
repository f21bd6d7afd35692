import { describe, expect, test } from 'vitest';
import { CAPS } from '../../../guest/wasm/install/caps.ts';
import {
  component,
  EXECUTE_TYPES,
  fixture,
  list,
  parse,
  refusal,
  section,
  skillComponent,
  str,
  type Bytes,
} from './support.ts';

const STRING = 0x73;

function why(...sections: readonly Bytes[]): string {
  return refusal(() => parse(component(...sections))).message;
}

describe('a component built by a tool', () => {
  const parsed = parse(fixture('hosted.wasm'));
  const imported = parsed.component.definitions.find((item) => item.kind === 'import');

  test('has its modules, imports and exports', () => {
    expect(parsed.modules).toHaveLength(3);
    expect(imported?.name).toBe('skillcell:fixture/host');
    expect(parsed.exports.get('execute')?.type?.def.kind).toBe('func');
  });

  test('has the resource, functions and value types of the imported interface', () => {
    const first = parsed.component.definitions[0];
    if (first?.kind !== 'type' || first.type.kind !== 'instance') throw new Error('No instance type');
    const { declarations } = first.type;
    const names = declarations.flatMap((item) => (item.kind === 'export' ? [item.name] : []));
    expect(names).toEqual(
      expect.arrayContaining(['counter', '[constructor]counter', '[method]counter.next', 'log']),
    );
    const kinds = declarations.flatMap((item) => (item.kind === 'type' ? [item.type.kind] : []));
    expect(kinds).toEqual(
      expect.arrayContaining(['own', 'borrow', 'enum', 'flags', 'variant', 'func', 'record', 'option']),
    );
  });

  test('has the names of its core instances, so that no fuel counter uses one of them', () => {
    expect([...parsed.coreNames]).toEqual(
      expect.arrayContaining(['memory', 'execute', 'cabi_realloc', '[resource-drop]counter']),
    );
  });
});

test('keeps the order and indices of its definitions', () => {
  const { component: read } = parse(skillComponent());
  expect(read.definitions.map((item) => item.kind)).toEqual([
    'type',
    'type',
    'core-module',
    'core-instance',
    'alias',
    'alias',
    'alias',
    'canon',
    'export',
  ]);
  expect(read.definitions[7]).toEqual({
    kind: 'canon',
    canon: { lift: { coreFunc: 0, type: 1, options: { encoding: 'utf8', memory: 0, realloc: 1 } } },
  });
});

test('a nested component is parsed, and an alias can refer to exports of its instance', () => {
  const inner = skillComponent();
  const bytes = component(
    section(4, [...inner]),
    list(5, [0, 0, 0]),
    list(6, [1, 0, 0, ...str('execute')]),
    list(11, [0, ...str('execute'), 1, 0, 0]),
  );
  expect(parse(bytes).exports.get('execute')?.type?.def.kind).toBe('func');
  const missing = component(section(4, [...inner]), list(5, [0, 0, 0]), list(6, [1, 0, 0, ...str('other')]));
  expect(refusal(() => parse(missing)).message).toContain('does not export the func');
});

describe('an import name', () => {
  const instance = list(7, [0x42, 0]);

  test.each([
    ['0', [0]],
    ['1', [1]],
  ])('is accepted in encoding %s', (_, form) => {
    const { component: read } = parse(
      component(instance, list(10, [...form, ...str('wasi:cli/run@0.2.0'), 5, 0])),
    );
    expect(read.definitions[1]).toMatchObject({ kind: 'import', name: 'wasi:cli/run@0.2.0' });
  });

  test('is accepted with a version suffix', () => {
    const name: Bytes = [2, ...str('wasi:cli/run@0.2'), 1, 1, ...str('.6')];
    const { component: read } = parse(component(instance, list(10, [...name, 5, 0])));
    expect(read.definitions[1]).toMatchObject({ name: 'wasi:cli/run@0.2' });
  });

  test('is refused if it is invalid or a duplicate', () => {
    expect(why(instance, list(10, [0, ...str("a'b"), 5, 0]))).toContain('kebab case');
    expect(why(instance, list(10, [0, ...str('[async]a'), 5, 0]))).toContain('Asynchronous');
    expect(why(instance, list(10, [0, ...str('a'), 5, 0], [0, ...str('A'), 5, 0]))).toContain(
      'have the name "A"',
    );
    expect(why(instance, list(10, [3, ...str('a'), 5, 0]))).toContain('encoding');
  });
});

describe('a refusal names', () => {
  test.each<[string, string, ...Bytes[]]>([
    ['start functions', 'Start functions', section(9, [0, 0, 0])],
    ['values', 'Component values', section(12, [0])],
    ['imported components', 'cannot be imported', list(7, [0x41, 0]), list(10, [0, ...str('a'), 4, 0])],
    ['imported modules', 'cannot be imported', list(3, [0x50, 0]), list(10, [0, ...str('a'), 0, 0x11, 0])],
    ['imported values', 'Component values', list(10, [0, ...str('a'), 2, 1, STRING])],
    ['asynchronous functions', 'Asynchronous functions', list(7, [0x43, 0, 1, 0])],
    ['streams', 'Streams', list(7, [0x66, 0])],
    ['futures', 'Futures', list(7, [0x65, 0])],
    ['error contexts', 'Error contexts', list(7, [0x70, 0x64])],
    ['fixed lists', 'fixed length', list(7, [0x67, STRING, 4])],
    ['task.return', 'Asynchronous functions', list(8, [0x09, 1, 0, 0])],
    ['unknown sections', 'Section 13', section(13, [])],
    ['core tags', 'tags', list(2, [1, 1, ...str('a'), 4, 0])],
    ['an undefined index', 'no type 0', list(10, [0, ...str('a'), 1, 0])],
    [
      'a function where an instance is meant',
      'not of kind instance',
      EXECUTE_TYPES,
      list(10, [0, ...str('a'), 5, 1]),
    ],
    ['a value of function type', 'not a value type', EXECUTE_TYPES, list(7, [0x70, 1])],
    ['own of something else', 'not a resource', EXECUTE_TYPES, list(7, [0x69, 0])],
    ['duplicate labels', 'occurs twice', list(7, [0x6d, 2, ...str('a'), ...str('A')])],
    ['empty records', 'no fields', list(7, [0x72, 0])],
    [
      '33 flags',
      'more than 32',
      list(7, [0x6e, 33, ...Array.from({ length: 33 }, (_, index) => str(`f${index}`)).flat()]),
    ],
    ['an outer alias beyond the file', 'enclosing component 1', list(6, [3, 2, 1, 0])],
    ['a resource inside a type', 'inside a type', list(7, [0x42, 1, 1, 0x3f, 0x7f, 0])],
  ])('%s', (_, message, ...sections) => {
    expect(why(...sections)).toContain(message);
  });

  test('options that are duplicate or mean async', () => {
    const canon = (...options: number[]): Bytes => list(8, [0, 0, 0, options.length, ...options, 1]);
    expect(refusal(() => parse(skillComponent(canon(0, 1)))).message).toContain(
      '"string-encoding" occurs twice',
    );
    expect(refusal(() => parse(skillComponent(canon(6)))).message).toContain('Asynchronous');
  });
});

describe('a component bomb is refused:', () => {
  test('components nested too deeply', () => {
    let bytes = component();
    for (let level = 0; level < CAPS.componentNesting; level++) bytes = component(section(4, [...bytes]));
    expect(refusal(() => parse(bytes)).message).toContain('nested too deep');
  });

  test('instance types nested too deeply', () => {
    const outer = Array.from({ length: CAPS.typeNesting }, () => [0x42, 1, 1]).flat();
    expect(why(list(7, [...outer, 0x42, 0]))).toContain('nested too deep');
  });

  test('a type that doubles at every step', () => {
    const pairs = Array.from({ length: 30 }, (_, index): Bytes => [0x6f, 2, index, index]);
    expect(why(list(7, [0x6f, 1, STRING], ...pairs))).toContain('too large');
  });

  test('instances that multiply from component to component', () => {
    let bytes = skillComponent();
    const four = list(5, ...Array.from({ length: 4 }, (): Bytes => [0, 0, 0]));
    for (let level = 0; level < 5; level++) bytes = component(section(4, [...bytes]), four);
    expect(bytes.length).toBeLessThan(1_000);
    expect(refusal(() => parse(bytes)).message).toContain('More than 256 instances');
  });

  test('too many modules', () => {
    const empty: Bytes = section(1, [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const bytes = component(...Array.from({ length: CAPS.modules + 1 }, () => empty));
    expect(refusal(() => parse(bytes)).message).toContain(`more than ${CAPS.modules} modules`);
  });
});

test.each([
  ['written by hand', skillComponent()],
  ['built by a tool', fixture('hosted.wasm')],
])('a truncated component, %s, is refused or is a smaller one, and nothing else is thrown', (_, bytes) => {
  let refused = 0;
  for (let length = 0; length < bytes.length; length++) {
    try {
      parse(bytes.subarray(0, length));
    } catch (error) {
      expect(error).toMatchObject({ name: 'BinaryError' });
      expect((error as { offset: number }).offset).toBeLessThanOrEqual(length);
      refused++;
    }
  }
  // Only a cut between two sections leaves something complete.
  expect(bytes.length - refused).toBeLessThan(40);
});
