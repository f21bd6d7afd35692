/**
 * Shapes as Python types. Each object becomes a `TypedDict`.
 *
 * @module
 */
import { printable } from '../../manifest/printable.ts';
import type { Field, Literal, Shape } from './shape.ts';

const NAMES: Readonly<Record<string, string>> = {
  any: 'Any',
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
};
/** Names that a call cannot pass as `name=…`. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const MAX_NAME = 48;

/** True for a name that Python takes as it is: it would change `__x` within a class, and letters beyond ASCII. */
export function isPythonName(name: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name);
}

/** The definitions that the types need, collected while they are written. */
export class Dictionaries {
  readonly texts: string[] = [];
  readonly #names = new Set<string>();

  typeOf(shape: Shape, path: string): string {
    switch (shape.kind) {
      case 'literal':
        return shape.value === null ? 'None' : `Literal[${literal(shape.value)}]`;
      case 'array':
        return `list[${this.typeOf(shape.items, path)}]`;
      case 'map':
        return `dict[str, ${this.typeOf(shape.values, path)}]`;
      case 'object':
        return shape.fields.length === 0 ? 'dict[str, Any]' : this.define(shape.fields, path);
      case 'union':
        return [...new Set(shape.of.map((one) => this.typeOf(one, path)))].join(' | ');
      default:
        return NAMES[shape.kind] ?? 'Any';
    }
  }

  /** Returns the name of the new type. */
  define(fields: readonly Field[], path: string): string {
    const name = this.#name(path);
    const rows = fields.map((field) => {
      const type = this.typeOf(field.shape, `${path}/${field.name}`);
      return { ...field, type: field.required ? type : `NotRequired[${type}]` };
    });
    const isClass = rows.every((row) => isPythonName(row.name));
    const lines = rows.map((row) => {
      const line = isClass ? `    ${row.name}: ${row.type}` : `    ${pythonString(row.name)}: ${row.type},`;
      return row.about === '' ? line : `    # ${row.about}\n${line}`;
    });
    this.texts.push(
      isClass
        ? `class ${name}(TypedDict):\n${lines.join('\n')}\n`
        : `${name} = TypedDict("${name}", {\n${lines.join('\n')}\n})\n`,
    );
    return name;
  }

  /** `text/word_stats/Result` becomes `TextWordStatsResult`. */
  #name(path: string): string {
    const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
    const whole = words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('');
    // A leading letter, so that no name starts with a digit or is one that typing defines.
    const base = `T${whole.slice(0, MAX_NAME)}`;
    let name = base;
    for (let number = 2; this.#names.has(name); number++) name = `${base}_${number}`;
    this.#names.add(name);
    return name;
  }
}

/** A string literal of Python. */
export function pythonString(text: string): string {
  const parts = Array.from(text, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    const isPlain = character !== '\n' && character !== '\t' && printable(character) === character;
    return isPlain ? character : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `"${parts.join('')}"`;
}

function literal(value: Exclude<Literal, null>): string {
  if (typeof value === 'string') return pythonString(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return String(value);
}
