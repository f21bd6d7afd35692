/**
 * The type that a schema describes, reduced to what every programming language can say. It may be looser than the schema,
 * never stricter, and its size is bounded, whatever the schema refers to.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { objectRoot, withoutAllOf } from '../schema/merge.ts';
import { isSchema, plainSchema } from '../schema/plain.ts';
import { typesOf } from '../schema/types.ts';
import { withWords } from '../schema/words.ts';
import { remark } from './text.ts';

export type Literal = string | number | boolean | null;
export type Scalar = 'string' | 'number' | 'integer' | 'boolean' | 'null';

export type Shape =
  | { kind: 'any' | Scalar }
  | { kind: 'literal'; value: Literal }
  | { kind: 'array'; items: Shape }
  | { kind: 'map'; values: Shape }
  | { kind: 'object'; fields: readonly Field[] }
  | { kind: 'union'; of: readonly Shape[] };

export interface Field {
  name: string;
  shape: Shape;
  required: boolean;
  /** What the author wrote about it, with the conditions that a type cannot express: untrusted text in one line. */
  about: string;
}

const MAX_DEPTH = 8;
/** Characters that names and literals of one schema may take; beyond them, anything is accepted. */
const MAX_CHARACTERS = 8 * 1024;
/** Characters of all descriptions in one schema. Counted separately, so that words never change a type. */
const MAX_WORDS = 8 * 1024;
/** What a part without a name takes. */
const PART_CHARACTERS = 24;
const MAX_FIELDS = 64;
const MAX_CHOICES = 32;
const MAX_LITERAL = 120;
/** A longer name is not described. It can still be passed. */
const MAX_NAME = 120;
const ANY: Shape = { kind: 'any' };
const SCALARS: ReadonlySet<string> = new Set<Scalar>(['string', 'number', 'integer', 'boolean', 'null']);
/** Keywords that a type expresses, or that say nothing to a model. */
const EXPRESSED: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'description',
  'title',
  'nullable',
  'additionalProperties',
]);

/** The shape of parameters, which are an object for a skill that is a tool; undefined for any other skill. */
export function paramsShape(schema: JsonSchema): Shape | undefined {
  const root = objectRoot(plainSchema(schema, ignore));
  return root && shapeOf(root);
}

/** The shape of a result; a skill that declares nothing may return anything. */
export function resultShape(outputs: Record<string, JsonSchema>): Shape {
  if (Object.keys(outputs).length === 0) return ANY;
  const required = Object.keys(outputs);
  return shapeOf(plainSchema({ type: 'object', properties: outputs, required }, ignore));
}

function shapeOf(schema: JsonSchema): Shape {
  return new Shaper().shape(schema, 0);
}

class Shaper {
  #left = MAX_CHARACTERS;
  #words = MAX_WORDS;

  shape(given: JsonSchema, depth: number): Shape {
    this.#left -= PART_CHARACTERS;
    if (depth > MAX_DEPTH || this.#left < 0) return ANY;
    const schema = withoutAllOf(given);
    const shape = this.#withoutNull(schema, depth);
    return schema['nullable'] === true ? union([shape, { kind: 'null' }]) : shape;
  }

  #withoutNull(schema: JsonSchema, depth: number): Shape {
    const { enum: values, anyOf, oneOf } = schema;
    if ('const' in schema) return this.#choices([schema['const']]);
    if (Array.isArray(values)) return this.#choices(values);
    const alternatives = anyOf ?? oneOf;
    if (Array.isArray(alternatives)) {
      // Conditions next to the alternatives hold for each of them.
      const { anyOf: _any, oneOf: _one, ...own } = schema;
      return union(alternatives.filter(isSchema).map((one) => this.shape({ ...own, ...one }, depth + 1)));
    }
    return union(typesOf(schema).map((type) => this.#ofType(type, schema, depth)));
  }

  #ofType(type: string, schema: JsonSchema, depth: number): Shape {
    if (SCALARS.has(type)) return { kind: type as Scalar };
    if (type === 'array') return { kind: 'array', items: this.#part(schema['items'], depth) };
    return type === 'object' ? this.#object(schema, depth) : ANY;
  }

  #object(schema: JsonSchema, depth: number): Shape {
    const { properties, required, additionalProperties } = schema;
    const entries = Object.entries(isSchema(properties) ? properties : {});
    if (entries.length === 0 && additionalProperties !== false)
      return { kind: 'map', values: this.#part(additionalProperties, depth) };
    const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
    const shown = entries.filter(([name]) => name.length <= MAX_NAME).slice(0, MAX_FIELDS);
    const fields = shown.map(([name, value]) => {
      const about = isSchema(value) && this.#words > 0 ? aboutOf(value) : '';
      this.#words -= about.length;
      this.#left -= name.length;
      return { name, shape: this.#part(value, depth), required: needed.has(name), about };
    });
    return { kind: 'object', fields };
  }

  #choices(values: readonly unknown[]): Shape {
    const shown = values.length <= MAX_CHOICES ? union(values.map(literal)) : undefined;
    const size = shown === undefined ? 0 : JSON.stringify(shown).length;
    this.#left -= size;
    if (shown !== undefined && this.#left > 0) return shown;
    return union(
      typesOf({ enum: values }).map((type) => (SCALARS.has(type) ? { kind: type as Scalar } : ANY)),
    );
  }

  #part(schema: unknown, depth: number): Shape {
    return isSchema(schema) ? this.shape(schema, depth + 1) : ANY;
  }
}

function aboutOf(schema: JsonSchema): string {
  const lost = Object.entries(schema).filter(([keyword]) => !EXPRESSED.has(keyword));
  const place = { path: '', note: ignore };
  const { description } = withWords(schema, Object.fromEntries(lost), place);
  return typeof description === 'string' ? remark(description) : '';
}

function literal(value: unknown): Shape {
  if (typeof value === 'string')
    return value.length > MAX_LITERAL ? { kind: 'string' } : { kind: 'literal', value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { kind: 'literal', value } : { kind: 'number' };
  return value === null || typeof value === 'boolean' ? { kind: 'literal', value } : ANY;
}

/** One of several shapes, each once; anything if there is none, because the schema then says nothing. */
function union(shapes: readonly Shape[]): Shape {
  const flat = shapes.flatMap((shape) => (shape.kind === 'union' ? shape.of : [shape]));
  if (flat.length === 0 || flat.length > MAX_CHOICES + 1 || flat.some(({ kind }) => kind === 'any'))
    return ANY;
  const different = [...new Map(flat.map((shape) => [JSON.stringify(shape), shape])).values()];
  return different.length === 1 ? (different[0] ?? ANY) : { kind: 'union', of: different };
}

function ignore(): void {
  // What a type cannot express is still checked when the skill is called.
}
