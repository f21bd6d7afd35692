import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileOutputs, compileSchema } from '../../src/manifest/json-schema.ts';
import type { JsonSchema } from '../../src/manifest/manifest.ts';
import { words } from '../words.ts';

const context = { file: 'manifest.yaml', at: 'parameters' };
const check = (schema: JsonSchema, value: unknown): string[] => compileSchema(schema, context).check(value);
const invalid = expect.objectContaining({ code: 'manifest_invalid' });

describe('checking a value against a schema', () => {
  it('reports every problem with its path', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: ['object', 'null'] }, b: { enum: ['x', 'y'] }, d: true },
      required: ['d'],
      additionalProperties: false,
    };
    const problems = check(schema, { a: 1, b: 'z', c: 2 });
    expect(problems.sort()).toEqual([
      '(root): must NOT have additional properties: "c"',
      "(root): must have required property 'd'",
      '/a: must be object,null',
      '/b: must be equal to one of the allowed values: "x", "y"',
    ]);
    expect(check(schema, { a: null, d: 1 })).toEqual([]);
  });

  it('never changes the value', () => {
    const value = { a: '5' };
    check({ type: 'object', properties: { a: { type: 'integer' }, b: { default: 1 } } }, value);
    expect(value).toEqual({ a: '5' });
  });

  it('does not count inherited properties as given', () => {
    expect(check({ type: 'object', required: ['toString'] }, {})).toHaveLength(1);
  });

  it('reads other drafts as 2020-12 and ignores unknown formats and keywords', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'x',
      format: 'nope',
      icon: 'star',
    };
    expect(check(schema, 'x')).toEqual([]);
  });

  it('checks known formats and local references', () => {
    const schema = { $defs: { d: { type: 'string', format: 'date' } }, $ref: '#/$defs/d' };
    expect(check(schema, '2026-01-02')).toEqual([]);
    expect(check(schema, '2026-13-02')).toHaveLength(1);
  });

  it('keeps the report short for large values and many problems', () => {
    const schema = { type: 'array', items: { type: 'string' } };
    expect(
      check(
        schema,
        Array.from({ length: 100 }, () => 1),
      ),
    ).toHaveLength(21);
    expect(
      check(
        schema,
        Array.from({ length: 100_000 }, () => 1),
      ),
    ).toHaveLength(1);
  });

  it('never prints control characters', () => {
    const problems = check(
      { type: 'object', additionalProperties: { type: 'string' } },
      { '\u001b[31m\u202e': 1 },
    );
    expect(problems.join('')).toMatch(/^[ -~]+$/);
  });
});

describe('compiling a hostile schema', () => {
  it.each<[string, JsonSchema]>([
    ['a remote reference', { $ref: 'http://127.0.0.1/x' }],
    ['a remote reference deep inside', { properties: { a: { items: { $ref: 'file:///etc/passwd' } } } }],
    ['a remote dynamic reference', { $dynamicRef: 'other.json' }],
    ['a reference to nothing', { $ref: '#/$defs/none' }],
    ['an asynchronous schema', { $async: true, type: 'string' }],
    ['a wrong type', { type: 'dict' }],
    ['required as a boolean', { properties: { a: { type: 'string', required: true } } }],
    ['a broken pattern', { pattern: '(' }],
    ['a long pattern', { pattern: 'a'.repeat(257) }],
    ['a long property pattern', { patternProperties: { ['a'.repeat(257)]: {} } }],
    ['too many bytes', { description: 'x'.repeat(70_000) }],
    [
      'a name of the meta-schema inside',
      { $defs: { a: { $id: 'https://json-schema.org/draft/2020-12/schema' } }, type: 1 },
    ],
  ])('refuses %s as manifest_invalid', (_name, schema) => {
    expect(() => compileSchema(schema, context)).toThrow(invalid);
  });

  it('refuses deep nesting, even if the schema contains itself', () => {
    const deep = Array.from({ length: 40 }).reduce<JsonSchema>((inner) => ({ items: inner }), {});
    const cyclic: JsonSchema = {};
    cyclic['items'] = cyclic;
    expect(() => compileSchema(deep, context)).toThrow(invalid);
    expect(() => compileSchema(cyclic, context)).toThrow(invalid);
  });

  it('does not read keywords inside data and names as keywords', () => {
    const schema = {
      default: { $ref: 'http://x' },
      properties: { $ref: { type: 'string' }, pattern: { type: 'string' } },
    };
    expect(check(schema, { $ref: 'x', pattern: 'y'.repeat(300) })).toEqual([]);
  });

  it.each<[string, JsonSchema, unknown]>([
    ['exponential pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`],
    [
      'exponential property pattern',
      { patternProperties: { '^(a|a)*$': {} } },
      { [`${'a'.repeat(60)}b`]: 1 },
    ],
    ['quadratic pattern on a large text', { pattern: '\\s+$' }, `${' '.repeat(2_000_000)}x`],
    ['endless reference', { $ref: '#' }, 1],
  ])('reports a problem for %s instead of hanging', (_name, schema, value) => {
    expect(check(schema, value)).toEqual([expect.stringContaining('could not be checked')]);
  });

  it('stops references that fan out exponentially', () => {
    const last = 40;
    const layer = (index: number): JsonSchema => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return index === last ? { type: 'string' } : { anyOf: [next, next] };
    };
    const $defs = Object.fromEntries(
      Array.from({ length: last + 1 }, (_, index) => [`d${index}`, layer(index)]),
    );
    expect(check({ $defs, $ref: '#/$defs/d0' }, 1)).toEqual([
      expect.stringContaining('could not be checked'),
    ]);
  });

  it('works again after a check was stopped', () => {
    const compiled = compileSchema({ pattern: '^(a+)+$' }, context);
    expect(compiled.check(`${'a'.repeat(60)}b`)).toHaveLength(1);
    expect(compiled.check('aaa')).toEqual([]);
  });

  it('puts text from the schema into generated code only as text', () => {
    const code = '"]; globalThis.escaped = true; //`${globalThis.escaped = true}`\u2028';
    const schema = {
      properties: { [code]: { enum: [code], const: code } },
      required: [code],
      dependentRequired: { [code]: [code] },
    };
    expect(check(schema, { [code]: code })).toEqual([]);
    expect(check(schema, { [code]: 1 }).length).toBeGreaterThan(0);
    expect('escaped' in globalThis).toBe(false);
  });

  it('compiles any schema or refuses it as manifest_invalid', () => {
    const keyword = fc.constantFrom(
      ...words('type properties items $ref $id required enum pattern anyOf format not'),
    );
    const leaf = fc.oneof(
      fc.constantFrom<unknown>('string', 'object', '#', '#/x', 1, true, null),
      fc.jsonValue(),
    );
    const inner = fc.dictionary(keyword, leaf, { maxKeys: 3 });
    const schema = fc.dictionary(keyword, fc.oneof(leaf, inner, fc.array(inner, { maxLength: 2 })), {
      maxKeys: 4,
    });
    fc.assert(
      fc.property(schema, fc.jsonValue(), (candidate, value) => {
        try {
          for (const text of check(candidate, value)) expect(text).toBeTypeOf('string');
        } catch (error) {
          expect(error).toMatchObject({ name: 'SkillError', code: 'manifest_invalid' });
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('checking the outputs of a skill', () => {
  const outputs = compileOutputs(
    { report: { type: 'string', description: 'x' }, n: { type: 'integer' } },
    context,
  );
  it('checks the keys that are present and allows missing and extra ones', () => {
    expect(outputs.check({})).toEqual([]);
    expect(outputs.check({ report: 'x', other: 1 })).toEqual([]);
    expect(outputs.check({ n: 'x' })).toEqual(['/n: must be integer']);
  });
  it.each([null, 1, 'x', []])('refuses the non-object %j', (value) => {
    expect(outputs.check(value)).toEqual(['(root): must be object']);
  });
  it('checks nothing if nothing is declared', () => {
    expect(compileOutputs({}, context).check('anything')).toEqual([]);
  });
});
