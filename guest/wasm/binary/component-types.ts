/**
 * The type section of a component.
 *
 * @module
 */
import type { Declaration, Primitive, TypeDef, ValType } from '../contract.ts';
import { CAPS } from '../install/caps.ts';
import {
  countDefinition,
  readAlias,
  readExternDesc,
  readExternName,
  readLabel,
  skipCoreType,
  type Totals,
} from './component-parts.ts';
import type { Reader } from './reader.ts';
import { Scope, type Item, type TypeItem } from './scope.ts';

/** Ordered by code: the first is 0x7f, each following one is one less. */
export const PRIMITIVES: readonly Primitive[] = [
  'bool',
  's8',
  'u8',
  's16',
  'u16',
  's32',
  'u32',
  's64',
  'u64',
  'f32',
  'f64',
  'char',
  'string',
];

const NO_VALUES: ReadonlySet<TypeDef['kind']> = new Set(['func', 'instance', 'component', 'resource']);

const REFUSED: Readonly<Record<number, string>> = {
  0x63: 'Maps are not allowed',
  0x64: 'Error contexts are not allowed',
  0x65: 'Futures are not allowed',
  0x66: 'Streams of the asynchronous component model are not allowed',
  0x67: 'Lists of a fixed length are not allowed',
  0x3e: 'Asynchronous destructors are not allowed',
  0x43: 'Asynchronous functions are not allowed',
};

/** Reads the types of one scope, and tracks the size of each. */
export class TypeReader {
  readonly #reader: Reader;
  readonly #scope: Scope;
  readonly #totals: Totals;
  #depth = 0;
  #nodes = 0;

  constructor(reader: Reader, scope: Scope, totals: Totals) {
    this.#reader = reader;
    this.#scope = scope;
    this.#totals = totals;
  }

  /** Reads one type and adds it to the scope. */
  read(): TypeDef {
    const offset = this.#reader.position;
    this.#depth = 0;
    this.#nodes = 1;
    const { def, exports } = this.#definition();
    const type: TypeItem = {
      def,
      space: this.#scope.space('type'),
      depth: this.#depth + 1,
      nodes: this.#nodes,
      ...(exports && { exports }),
    };
    if (type.depth > CAPS.valueDepth || type.nodes > CAPS.valueNodes) {
      this.#reader.fail('A type is nested too deeply or too large', offset);
    }
    this.#scope.add({ sort: 'type', type });
    return def;
  }

  #definition(): { def: TypeDef; exports?: ReadonlyMap<string, Item> } {
    const reader = this.#reader;
    const offset = reader.position;
    const code = reader.byte();
    if (code === 0x41 || code === 0x42) return this.#declarations(code === 0x41 ? 'component' : 'instance');
    const def = code === 0x40 || code === 0x3f ? this.#funcOrResource(code) : this.#value(code);
    return {
      def: def ?? reader.fail(REFUSED[code] ?? `0x${code.toString(16)} is not the start of a type`, offset),
    };
  }

  #funcOrResource(code: number): TypeDef {
    return code === 0x40 ? this.#func() : this.#resource();
  }

  #value(code: number): TypeDef | undefined {
    const primitive = PRIMITIVES[0x7f - code];
    if (primitive !== undefined) return { kind: 'primitive', primitive };
    switch (code) {
      case 0x72:
        return { kind: 'record', fields: this.#fields(1) };
      case 0x71:
        return { kind: 'variant', cases: this.#cases() };
      case 0x70:
        return { kind: 'list', element: this.#valType() };
      case 0x6f:
        return { kind: 'tuple', types: this.#many('elements of a tuple', () => this.#valType()) };
      case 0x6e:
        return { kind: 'flags', names: this.#labels(CAPS.flags) };
      case 0x6d:
        return { kind: 'enum', names: this.#labels(CAPS.labels) };
      case 0x6b:
        return { kind: 'option', type: this.#valType() };
      case 0x6a:
        return this.#result();
      case 0x69:
        return { kind: 'own', resource: this.#resourceIndex() };
      case 0x68:
        return { kind: 'borrow', resource: this.#resourceIndex() };
      default:
        return undefined;
    }
  }

  #valType(): ValType {
    const reader = this.#reader;
    const offset = reader.position;
    const next = reader.peek();
    if (next >= 0x40 && next <= 0x7f) return this.#primitive();
    const index = reader.signed(33);
    const type = index < 0 ? undefined : this.#scope.space('type')[index]?.type;
    if (type === undefined || NO_VALUES.has(type.def.kind)) {
      return reader.fail(`Type ${index} is not a value type`, offset);
    }
    this.#depth = Math.max(this.#depth, type.depth);
    this.#nodes += type.nodes;
    return { type: index };
  }

  #primitive(): Primitive {
    const code = this.#reader.byte();
    this.#nodes++;
    return (
      PRIMITIVES[0x7f - code] ??
      this.#reader.fail(
        REFUSED[code] ?? `0x${code.toString(16)} is not a value type`,
        this.#reader.position - 1,
      )
    );
  }

  #optional(): ValType | undefined {
    const present = this.#reader.byte();
    if (present > 1)
      this.#reader.fail('The presence byte of a type is neither 0 nor 1', this.#reader.position - 1);
    return present === 1 ? this.#valType() : undefined;
  }

  #many<Part>(what: string, read: () => Part): Part[] {
    const count = this.#reader.count(CAPS.labels, what);
    if (count === 0) this.#reader.fail(`There are no ${what}`);
    return Array.from({ length: count }, read);
  }

  #fields(min: number): { name: string; type: ValType }[] {
    const reader = this.#reader;
    const count = reader.count(CAPS.labels, 'fields or parameters');
    if (count < min) reader.fail('A record has no fields');
    const names = new Set<string>();
    return Array.from({ length: count }, () => ({ name: this.#uniqueLabel(names), type: this.#valType() }));
  }

  #cases(): { name: string; type?: ValType }[] {
    const names = new Set<string>();
    return this.#many('cases of a variant', () => {
      const name = this.#uniqueLabel(names);
      const type = this.#optional();
      if (this.#reader.byte() !== 0)
        this.#reader.fail('A variant case refines another', this.#reader.position - 1);
      return { name, ...(type !== undefined && { type }) };
    });
  }

  #labels(cap: number): string[] {
    const names = new Set<string>();
    const labels = this.#many('labels', () => this.#uniqueLabel(names));
    if (labels.length > cap) this.#reader.fail(`${labels.length} labels are more than ${cap}`);
    return labels;
  }

  #uniqueLabel(taken: Set<string>): string {
    const label = readLabel(this.#reader);
    const key = label.toLowerCase();
    if (taken.has(key)) this.#reader.fail(`Label "${label}" occurs twice in one type`);
    taken.add(key);
    return label;
  }

  #result(): TypeDef {
    const ok = this.#optional();
    const err = this.#optional();
    return { kind: 'result', ...(ok !== undefined && { ok }), ...(err !== undefined && { err }) };
  }

  #resourceIndex(): number {
    const offset = this.#reader.position;
    const index = this.#scope.index(this.#reader, 'type');
    if (this.#scope.item('type', index).type?.def.kind !== 'resource') {
      this.#reader.fail(`Type ${index} is not a resource`, offset);
    }
    return index;
  }

  #func(): TypeDef {
    const params = this.#fields(0);
    const form = this.#reader.byte();
    if (form === 0x00) return { kind: 'func', params, result: this.#valType() };
    if (form !== 0x01 || this.#reader.byte() !== 0x00) this.#reader.fail('Named results are not allowed');
    return { kind: 'func', params };
  }

  #resource(): TypeDef {
    const reader = this.#reader;
    if (this.#scope.isType) reader.fail('A resource is defined inside a type');
    if (reader.byte() !== 0x7f) reader.fail('The representation of a resource is not i32');
    const present = reader.byte();
    if (present > 1) reader.fail('The presence byte of a destructor is neither 0 nor 1', reader.position - 1);
    if (present === 0) return { kind: 'resource' };
    return { kind: 'resource', destructor: this.#scope.index(reader, 'core func') };
  }

  #declarations(kind: 'component' | 'instance'): { def: TypeDef; exports: Scope['exports'] } {
    const inner = new Scope(this.#scope, true);
    if (inner.depth > CAPS.typeNesting) this.#reader.fail('Component types are nested too deeply');
    const count = this.#reader.count(CAPS.definitions, 'declarations');
    const declarations: Declaration[] = [];
    for (let index = 0; index < count; index++) {
      countDefinition(this.#totals, this.#reader);
      declarations.push(this.#declaration(inner, kind));
    }
    return { def: { kind, declarations }, exports: inner.exports };
  }

  #declaration(inner: Scope, kind: 'component' | 'instance'): Declaration {
    const reader = this.#reader;
    const offset = reader.position;
    const code = reader.byte();
    if (code === 0x00) {
      skipCoreType(reader, inner);
      inner.add({ sort: 'core type' });
      return { kind: 'core-type' };
    }
    if (code === 0x01) return { kind: 'type', type: new TypeReader(reader, inner, this.#totals).read() };
    if (code === 0x02) {
      const { sort, target, item } = readAlias(reader, inner, this.#totals);
      inner.add(item);
      return { kind: 'alias', sort, target };
    }
    if (code === 0x04 || (code === 0x03 && kind === 'component')) return this.#external(inner, code === 0x03);
    return reader.fail('A type has an unknown declaration', offset);
  }

  #external(inner: Scope, isImport: boolean): Declaration {
    const name = readExternName(this.#reader);
    const { desc, item } = readExternDesc(this.#reader, inner);
    if (isImport) inner.claimImport(name, this.#reader);
    else inner.claimExport(name, item, this.#reader);
    inner.add(item);
    return { kind: isImport ? 'import' : 'export', name, desc };
  }
}
