/**
 * Skills as tools: valid for every provider, never stricter than the skill, and arguments convert back to parameters.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SkillError, ToolSet, type Skill, type ToolFormat } from '../../src/index.ts';
import { TOOL_FORMATS, type ToolFormats } from '../../src/inside.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { asModelWrites, fromOpenApi, withoutAddedNulls } from './as-model.ts';
import { anySchema, parameters, type Schema } from './pairs.ts';
import { breaches, RULES } from './provider-rules.ts';

function skillWith(schema: Schema, more: Partial<Manifest> = {}, instructions?: string): Skill {
  const manifest = { name: 'test/tool', description: 'Does it.', parameters: schema, outputs: {}, ...more };
  const bundle = { manifest, ...(instructions === undefined ? {} : { instructions }) };
  // Only the manifest is needed; compiling its schemas would take most of the time.
  return { bundle } as unknown as Skill;
}

const SCHEMA_OF: { [Format in ToolFormat]: (tool: ToolFormats[Format]) => Schema } = {
  openai: (tool) => tool.function.parameters,
  deepseek: (tool) => tool.function.parameters,
  ollama: (tool) => tool.function.parameters,
  claude: (tool) => tool.input_schema,
  bedrock: (tool) => tool.toolSpec.inputSchema.json,
  // Gemini accepts no object without properties, so there are no parameters then.
  gemini: (tool) => tool.parameters ?? { type: 'OBJECT', properties: {} },
  mcp: (tool) => tool.inputSchema,
};

interface Offered {
  set: ToolSet;
  schema: Schema;
  tool: ToolFormats[ToolFormat];
}

function offer(schema: Schema, format: ToolFormat): Offered {
  const set = new ToolSet([skillWith(schema)], format);
  const [tool] = set.tools;
  if (!tool) throw new Error('There is no tool');
  return { set, tool, schema: (SCHEMA_OF[format] as (one: typeof tool) => Schema)(tool) };
}

function rulesFor(
  format: Exclude<ToolFormat, 'mcp'>,
  tool: ToolFormats[ToolFormat],
): (typeof RULES)['openai'] {
  const isStrict = format === 'openai' && (tool as ToolFormats['openai']).function.strict === true;
  return RULES[isStrict ? 'openai-strict' : format];
}

/** Shared, because creating one takes longer than compiling a hundred of these schemas. */
const ajv = new Ajv2020({
  strict: false,
  logger: false,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
  ownProperties: true,
});

function checker(schema: Schema): (value: unknown) => string {
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? 'fits' : JSON.stringify({ value, schema, errors: validate.errors }));
}

const object = (properties: Schema, required: string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const CONVERTED = TOOL_FORMATS.filter((format) => format !== 'mcp');

/** Undefined for a schema that accepts no object. */
function offerIfPossible(schema: Schema, format: ToolFormat): Offered | undefined {
  try {
    return offer(schema, format);
  } catch (error) {
    if (error instanceof SkillError && error.message.includes('not an object')) return undefined;
    throw error;
  }
}

test.each(CONVERTED)('any object schema is converted to follow the rules of %s', (format) => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const offered = offerIfPossible(schema, format);
      const isEmpty = !offered || (format === 'gemini' && !('parameters' in offered.tool));
      if (!isEmpty) expect(breaches(offered.schema, rulesFor(format, offered.tool))).toEqual([]);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test('valid parameters can be sent by every provider and come back unchanged', () => {
  fc.assert(
    fc.property(parameters, ({ schema, value }) => {
      const fitsSkill = checker(schema);
      expect(fitsSkill(value)).toBe('fits');
      for (const format of CONVERTED) {
        const { set, tool, schema: out } = offer(schema, format);
        const isEmpty = Object.keys(schema['properties'] as Schema).length === 0;
        const written = isEmpty ? {} : asModelWrites(schema, out, value);
        expect(checker(format === 'gemini' ? fromOpenApi(out) : out)(written), format).toBe('fits');
        const { params } = set.call('test__tool', JSON.stringify(written));
        expect(fitsSkill(params), format).toBe('fits');
        expect(withoutAddedNulls(params, value), format).toEqual(value);
        expect(set.call('test__tool', written).params).toEqual(params);
        expect(tool).toEqual(JSON.parse(JSON.stringify(tool)));
      }
    }),
    { numRuns: 50, endOnFailure: true },
  );
});

describe('strict mode for OpenAI', () => {
  test.each<[string, Schema]>([
    ['closed objects', object({ a: { type: 'string' } })],
    ['objects whose properties are named', { type: 'object', properties: { a: { type: 'string' } } }],
    ['no parameters at all', object({})],
    ['optional properties', object({ a: { type: 'string', enum: ['x'] }, b: { const: 1 } }, [])],
    ['choices without a type', object({ a: { enum: ['x', 1] } })],
    ['lists of objects', object({ a: { type: 'array', items: object({ b: { type: 'number' } }, []) } })],
    ['alternatives', object({ a: { anyOf: [{ type: 'string' }, { type: 'null' }] } })],
    ['references', { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { type: 'string' } } }],
  ])('is used for %s', (_what, schema) => {
    expect(offer(schema, 'openai').tool).toMatchObject({ function: { strict: true } });
  });

  test.each<[string, Schema, string]>([
    ['maps', object({ a: { type: 'object', additionalProperties: { type: 'string' } } }), 'any name'],
    ['objects of anything', object({ a: { type: 'object' } }), 'any name'],
    ['values of any type', object({ a: {} }), 'type'],
    ['lists of anything', object({ a: { type: 'array' } }), 'array without a type'],
    [
      'an object or text',
      object({ a: { type: ['object', 'string'], properties: { b: {} } } }),
      'another type',
    ],
    [
      'names by pattern',
      { ...object({ a: { type: 'string' } }), patternProperties: { '^x': {} } },
      'any name',
    ],
    [
      'optional properties in one of several objects',
      object({ a: { anyOf: [object({ b: { type: 'string' } }, []), object({ c: { type: 'string' } })] } }),
      'optional properties in an alternative',
    ],
    [
      'a hundred and one properties',
      object(Object.fromEntries(numbered(101, { type: 'string' }))),
      'properties',
    ],
    ['six objects in each other', nested(6), 'deep'],
    ['many choices', object({ a: { enum: numbered(501, 0).map(([name]) => name) } }), 'enum values'],
  ])('is not used for %s, and a note says why', (_what, schema, why) => {
    const { set, tool } = offer(schema, 'openai');
    expect(tool).toMatchObject({ function: { strict: false } });
    expect(set.notes[0]?.what).toMatch(new RegExp(`^not strict: .*${why}`));
  });

  test('drops a null that stands for a missing value and keeps one that the skill accepts', () => {
    const schema = object({ a: { type: 'string' }, b: { type: ['string', 'null'] }, c: { type: 'string' } }, [
      'c',
    ]);
    const { set } = offer(schema, 'openai');
    expect(set.call('test__tool', { a: null, b: null, c: null }).params).toEqual({ b: null, c: null });
  });
});

function numbered<T>(count: number, value: T): [string, T][] {
  return Array.from({ length: count }, (_, at) => [`p${at}`, value]);
}

function nested(depth: number): Schema {
  return object({ a: depth === 0 ? { type: 'string' } : nested(depth - 1) });
}

describe('a schema feature that a provider does not support', () => {
  test.each<[string, ToolFormat, Schema, Schema]>([
    [
      'limits move to the description',
      'ollama',
      { type: 'string', description: 'A name.', minLength: 2, default: 'Ann' },
      { type: 'string', description: 'A name. (minLength: 2, default: "Ann")' },
    ],
    [
      'one of is any of',
      'gemini',
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
    ],
    ['a fixed value is a choice of one', 'ollama', { const: 'a' }, { enum: ['a'] }],
    [
      'a choice of text',
      'gemini',
      { enum: ['a', null] },
      { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
    ],
    [
      'a choice of numbers',
      'gemini',
      { type: 'integer', enum: [1, 2] },
      { type: 'INTEGER', description: 'enum: [1,2]' },
    ],
    ['null next to a type', 'gemini', { type: ['integer', 'null'] }, { type: 'INTEGER', nullable: true }],
    [
      'a bound that is not reached',
      'gemini',
      { type: 'integer', exclusiveMinimum: 0 },
      { type: 'INTEGER', minimum: 0, description: 'exclusiveMinimum: 0' },
    ],
    ['an object of anything', 'gemini', { type: 'object' }, { type: 'STRING', description: 'as JSON text' }],
    [
      'a list of anything',
      'gemini',
      { type: 'array' },
      { type: 'ARRAY', items: { type: 'STRING', description: 'as JSON text' } },
    ],
    [
      'an unknown format',
      'gemini',
      { type: 'string', format: 'uri' },
      { type: 'STRING', description: 'format: "uri"' },
    ],
    [
      'parts that hold together',
      'ollama',
      { allOf: [{ type: 'number' }, { type: 'integer' }] },
      { type: 'integer' },
    ],
    [
      'a list with a beginning',
      'ollama',
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    ],
    ['conditions', 'claude', { type: 'string', not: { const: 'x' } }, { type: 'string' }],
  ])('is converted: %s', (...[, format, schema, expected]) => {
    const { schema: out } = offer(object({ a: schema }), format);
    expect((out['properties'] as Schema)['a']).toEqual(expected);
  });

  test('is noted with its path', () => {
    const { set } = offer(object({ a: { type: 'string', not: { const: 'x' }, pattern: '^y' } }), 'ollama');
    expect(set.notes).toEqual([
      { skill: 'test/tool', path: '/properties/a', what: 'not is omitted' },
      { skill: 'test/tool', path: '/properties/a', what: 'pattern is moved to the description' },
    ]);
  });

  test('in property names gets another spelling, a description, and the original name back in calls', () => {
    const schema = object({ 'a b': { type: 'string' }, a_b: { type: 'integer' } });
    const { set, schema: out } = offer(schema, 'claude');
    const [spelled, plain] = Object.keys(out['properties'] as Schema).sort();
    expect(plain).toMatch(/^a_b_[0-9a-f]{16}$/);
    expect(spelled).toBe('a_b');
    expect((out['properties'] as Record<string, Schema>)[plain as string]).toMatchObject({
      description: 'named "a b"',
    });
    expect(set.call('test__tool', { [plain as string]: 'x', a_b: 1 }).params).toEqual({ 'a b': 'x', a_b: 1 });
  });

  test('such as alternatives at the root becomes one object', () => {
    const one = object({ kind: { const: 'a' }, a: { type: 'string' } });
    const other = object({ kind: { const: 'b' }, b: { type: 'string' } });
    const { schema: out } = offer({ type: 'object', oneOf: [one, other] }, 'claude');
    expect(out).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
        a: { type: 'string' },
        b: { type: 'string' },
      },
      required: ['kind'],
    });
  });
});

describe('a recursive schema', () => {
  const tree = { ...object({ children: { type: 'array', items: { $ref: '#' } } }, []) };

  test.each(CONVERTED)('is expanded once for %s', (format) => {
    const { set } = offer(tree, format);
    expect(set.notes.some(({ what }) => what.includes('refers to itself'))).toBe(true);
    expect(set.call('test__tool', { children: [] }).params).toEqual({ children: [] });
  });

  test('that grows with every reference is cut off', () => {
    const levels = numbered(12, 0).map(([name], at) => [
      name,
      { anyOf: Array.from({ length: 8 }, () => ({ $ref: `#/$defs/p${at + 1}` })) },
    ]);
    const laughs = {
      ...object({ a: { $ref: '#/$defs/p0' } }),
      $defs: { ...Object.fromEntries(levels), p12: { type: 'string' } },
    };
    const { set, schema } = offer(laughs, 'claude');
    expect(JSON.stringify(schema).length).toBeLessThan(200_000);
    expect(set.notes.some(({ what }) => what.includes('too large'))).toBe(true);
  });
});

describe('a tool for MCP', () => {
  test('keeps its schema as an object and without booleans', () => {
    const schema = { properties: { a: true, b: false, c: { $ref: '#/$defs/d' } }, $defs: { d: true } };
    expect(offer(schema, 'mcp').schema).toEqual({
      type: 'object',
      properties: { a: {}, b: { not: {} }, c: { $ref: '#/$defs/d' } },
      $defs: { d: {} },
    });
  });

  test('has the outputs if there are any', () => {
    const [tool] = new ToolSet([skillWith({}, { outputs: { a: { type: 'string' } } })], 'mcp').tools;
    expect(tool?.outputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect(new ToolSet([skillWith({})], 'mcp').tools[0]).not.toHaveProperty('outputSchema');
  });
});

describe('a set of tools', () => {
  test.each(TOOL_FORMATS)('is plain data in the format of %s', (format) => {
    const set = new ToolSet([skillWith(object({ text: { type: 'string' } }))], format);
    const parametersOut = object({ text: { type: 'string' } });
    const header = { name: 'test__tool', description: 'Does it.' };
    const shapes: ToolFormats = {
      openai: { type: 'function', function: { ...header, parameters: parametersOut, strict: true } },
      deepseek: { type: 'function', function: { ...header, parameters: parametersOut } },
      ollama: {
        type: 'function',
        function: {
          ...header,
          parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
      },
      claude: { ...header, input_schema: parametersOut },
      gemini: {
        ...header,
        parameters: { type: 'OBJECT', properties: { text: { type: 'STRING' } }, required: ['text'] },
      },
      bedrock: {
        toolSpec: {
          ...header,
          inputSchema: {
            json: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          },
        },
      },
      mcp: { ...header, inputSchema: { ...parametersOut, type: 'object' } },
    };
    expect(set.tools).toEqual([shapes[format]]);
  });

  test('truncates a long description and creates a missing one', () => {
    const [long] = new ToolSet([skillWith({}, { description: 'x'.repeat(2000) })], 'openai').tools;
    expect(long?.function.description).toHaveLength(1024);
    const [none] = new ToolSet([skillWith({}, { description: ' ' })], 'bedrock').tools;
    expect(none?.toolSpec.description).toBe('test/tool');
  });

  test('refuses two skills with one name, and parameters that are not an object', () => {
    const skill = skillWith({});
    expect(() => new ToolSet([skill, skill], 'claude')).toThrow(/Two skills/);
    for (const format of TOOL_FORMATS)
      expect(() => new ToolSet([skillWith({ type: 'string' })], format)).toThrow(/not an object/);
  });

  test('reports what is wrong with a call of the model', () => {
    const set = new ToolSet([skillWith({})], 'openai');
    expect(() => set.call('test__tol', {})).toThrow(expect.objectContaining({ code: 'skill_unavailable' }));
    expect(() => set.call('test__tool', '{"a":')).toThrow(
      expect.objectContaining({ code: 'invalid_params' }),
    );
    expect(set.call('test__tool', '').params).toEqual({});
    expect(set.call('test__tool', undefined).params).toEqual({});
  });

  test('has the instructions of its skills for the system prompt, and says who wrote them', () => {
    const set = new ToolSet(
      [skillWith({}, {}, '# Use it\n'), skillWith({}, { name: 'test/mute' })],
      'claude',
    );
    expect(set.instructions).toBe(
      '## Tool test__tool\n\nThe author of the skill test/tool writes:\n\n# Use it',
    );
  });
});
