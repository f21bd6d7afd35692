/**
 * Reads a component binary: definitions in order, with every index checked against earlier definitions.
 *
 * @module
 */
import type { Canon, CanonOptions, Component, CoreSort, Definition, InstanceExpr } from '../contract.ts';
import { CAPS } from '../install/caps.ts';
import {
  countDefinition,
  readAlias,
  readCoreSort,
  readExternDesc,
  readExternName,
  readSort,
  skipCoreType,
  type Totals,
} from './component-parts.ts';
import { TypeReader } from './component-types.ts';
import { parseCoreModule, type CoreModule } from './core-module.ts';
import type { Reader } from './reader.ts';
import { Scope, sortName, type Item, type Weight } from './scope.ts';

export interface ParsedComponent {
  component: Component;
  /** All modules of the file, in the order of the numbers in `core-module` definitions. */
  modules: CoreModule[];
  exports: ReadonlyMap<string, Item>;
  /** For all instances together. */
  weight: Weight;
  /** Names that core instances are linked by, in addition to those that modules import and export. */
  coreNames: ReadonlySet<string>;
}

const COMPONENT_HEADER: readonly number[] = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

interface FileState extends Totals {
  modules: CoreModule[];
  components: number;
}

export function parseComponent(reader: Reader): ParsedComponent {
  const state: FileState = { definitions: 0, coreNames: new Set(), modules: [], components: 0 };
  const scope = new Scope(undefined, false);
  const component = new ComponentReader(reader, scope, state).read();
  const { exports, weight } = scope;
  return { component, modules: state.modules, exports, weight, coreNames: state.coreNames };
}

class ComponentReader {
  readonly #source: Reader;
  readonly #scope: Scope;
  readonly #state: FileState;
  readonly #definitions: Definition[] = [];

  constructor(source: Reader, scope: Scope, state: FileState) {
    this.#source = source;
    this.#scope = scope;
    this.#state = state;
  }

  read(): Component {
    const source = this.#source;
    this.#state.components++;
    if (this.#state.components > CAPS.components)
      source.fail(`There are more than ${CAPS.components} components`);
    if (this.#scope.depth > CAPS.componentNesting) source.fail('Components are nested too deeply');
    for (const byte of COMPONENT_HEADER) {
      if (source.byte() !== byte)
        source.fail('The file does not start with a component header', source.position - 1);
    }
    while (!source.done) {
      const offset = source.position;
      const id = source.byte();
      const section = source.window(source.u32());
      this.#section(id, section, offset);
    }
    return { definitions: this.#definitions };
  }

  #section(id: number, section: Reader, offset: number): void {
    if (id === 0) return void section.name(section.end);
    if (id === 1) return this.#module(section);
    if (id === 4) return this.#component(section);
    if (id === 9) section.fail('Start functions of components are not allowed', offset);
    if (id === 12) section.fail('Component values are not allowed', offset);
    const readers: Readonly<Record<number, (reader: Reader) => Definition>> = {
      2: (reader) => this.#coreInstance(reader),
      3: (reader) => this.#coreType(reader),
      5: (reader) => this.#instance(reader),
      6: (reader) => this.#alias(reader),
      7: (reader) => ({ kind: 'type', type: new TypeReader(reader, this.#scope, this.#state).read() }),
      8: (reader) => ({ kind: 'canon', canon: this.#canon(reader) }),
      10: (reader) => this.#import(reader),
      11: (reader) => this.#export(reader),
    };
    const read = readers[id] ?? section.fail(`Section ${id} is unknown`, offset);
    const count = section.count(CAPS.definitions, 'definitions');
    for (let index = 0; index < count; index++) this.#define(section, read(section));
    section.finish(`section ${id}`);
  }

  #define(reader: Reader, definition: Definition): void {
    countDefinition(this.#state, reader);
    this.#definitions.push(definition);
  }

  #module(section: Reader): void {
    const { modules } = this.#state;
    if (modules.length >= CAPS.modules) section.fail(`There are more than ${CAPS.modules} modules`);
    const module = parseCoreModule(section);
    const coreExports = new Map<string, CoreSort>();
    for (const item of module.exports) if (item.kind !== 'tag') coreExports.set(item.name, item.kind);
    const weight: Weight = {
      instances: 1,
      pages: module.memories.reduce((sum, memory) => sum + memory.min, 0),
      memories: module.memories.length,
      tables: module.tables.length,
    };
    this.#scope.add({ sort: 'core module', coreExports, weight });
    this.#define(section, { kind: 'core-module', module: modules.length });
    modules.push(module);
  }

  #component(section: Reader): void {
    const scope = new Scope(this.#scope, false);
    const component = new ComponentReader(section, scope, this.#state).read();
    this.#scope.add({ sort: 'component', exports: scope.exports, weight: scope.weight });
    this.#define(section, { kind: 'component', component });
  }

  #coreType(reader: Reader): Definition {
    skipCoreType(reader, this.#scope);
    this.#scope.add({ sort: 'core type' });
    return { kind: 'core-type' };
  }

  #coreInstance(reader: Reader): Definition {
    const offset = reader.position;
    const form = reader.byte();
    if (form === 0x00) return this.#coreInstantiate(reader);
    if (form !== 0x01) reader.fail('A core instance has an unknown form', offset);
    const coreExports = new Map<string, CoreSort>();
    const exports = readList(reader, 'exports of a core instance', () => {
      const name = this.#coreName(reader);
      const sort = readCoreSort(reader);
      if (coreExports.has(name)) reader.fail('Two exports of a core instance have the same name');
      coreExports.set(name, sort);
      return { name, sort, index: this.#scope.index(reader, `core ${sort}`) };
    });
    this.#scope.add({ sort: 'core instance', coreExports });
    return { kind: 'core-instance', expr: { exports } };
  }

  #coreInstantiate(reader: Reader): Definition {
    const instantiate = this.#scope.index(reader, 'core module');
    const names = new Set<string>();
    const args = readList(reader, 'arguments of a core instance', () => {
      const name = this.#coreName(reader);
      if (names.has(name)) reader.fail('Two arguments of a core instance have the same name');
      names.add(name);
      if (reader.byte() !== 0x12)
        reader.fail('An argument of a core instance is not an instance', reader.position - 1);
      return { name, instance: this.#scope.index(reader, 'core instance') };
    });
    const module = this.#scope.item('core module', instantiate);
    this.#scope.instantiate(module, reader);
    this.#scope.add({ ...module, sort: 'core instance' });
    return { kind: 'core-instance', expr: { instantiate, args } };
  }

  #coreName(reader: Reader): string {
    const name = reader.name(CAPS.nameBytes);
    this.#state.coreNames.add(name);
    return name;
  }

  #instance(reader: Reader): Definition {
    const offset = reader.position;
    const form = reader.byte();
    if (form > 0x01) reader.fail('An instance has an unknown form', offset);
    const { expr, exports } = form === 0x00 ? this.#instantiate(reader) : this.#inlineExports(reader);
    this.#scope.add({ sort: 'instance', exports });
    return { kind: 'instance', expr };
  }

  #instantiate(reader: Reader): { expr: InstanceExpr; exports: ReadonlyMap<string, Item> } {
    const instantiate = this.#scope.index(reader, 'component');
    const names = new Set<string>();
    const args = readList(reader, 'arguments of an instance', () => {
      const name = reader.name(CAPS.nameBytes);
      if (names.has(name)) reader.fail('Two arguments of an instance have the same name');
      names.add(name);
      const sort = readSort(reader);
      return { name, sort, index: this.#scope.index(reader, sortName(sort)) };
    });
    const component = this.#scope.item('component', instantiate);
    this.#scope.instantiate(component, reader);
    return { expr: { instantiate, args }, exports: component.exports ?? new Map() };
  }

  #inlineExports(reader: Reader): { expr: InstanceExpr; exports: ReadonlyMap<string, Item> } {
    const inner = new Scope(undefined, false);
    const exports = readList(reader, 'exports of an instance', () => {
      const name = readExternName(reader);
      const sort = readSort(reader);
      const index = this.#scope.index(reader, sortName(sort));
      inner.claimExport(name, this.#scope.item(sortName(sort), index), reader);
      return { name, sort, index };
    });
    return { expr: { exports }, exports: inner.exports };
  }

  #alias(reader: Reader): Definition {
    const { sort, target, item } = readAlias(reader, this.#scope, this.#state);
    this.#scope.add(item);
    return { kind: 'alias', sort, target };
  }

  #import(reader: Reader): Definition {
    const name = readExternName(reader);
    const offset = reader.position;
    const { desc, item } = readExternDesc(reader, this.#scope);
    if (desc.kind === 'component' || desc.kind === 'core-module') {
      reader.fail('Components and core modules cannot be imported', offset);
    }
    this.#scope.claimImport(name, reader);
    this.#scope.add(item);
    return { kind: 'import', name, desc };
  }

  #export(reader: Reader): Definition {
    const name = readExternName(reader);
    const sort = readSort(reader);
    if (typeof sort === 'object' && sort.core !== 'module')
      reader.fail('A component cannot export core definitions');
    const index = this.#scope.index(reader, sortName(sort));
    const described = readPresence(reader) ? readExternDesc(reader, this.#scope) : undefined;
    const item = described?.item ?? this.#scope.item(sortName(sort), index);
    if (item.sort !== sortName(sort)) reader.fail('An export has another sort than its description');
    this.#scope.claimExport(name, item, reader);
    this.#scope.add(item);
    return { kind: 'export', name, sort, index, ...(described && { desc: described.desc }) };
  }

  #canon(reader: Reader): Canon {
    const offset = reader.position;
    const code = reader.byte();
    if (code <= 0x01) {
      if (reader.byte() !== 0x00) reader.fail('Only functions can be lifted and lowered', offset);
      return code === 0x00 ? this.#lift(reader) : this.#lower(reader);
    }
    if (code > 0x04)
      reader.fail('Asynchronous functions, streams, futures and error contexts are not allowed', offset);
    const index = this.#scope.index(reader, 'type');
    const kind = this.#scope.item('type', index).type?.def.kind;
    if (kind !== 'resource') reader.fail(`Type ${index} is not a resource`, offset);
    this.#scope.add({ sort: 'core func' });
    if (code === 0x02) return { resourceNew: index };
    return code === 0x03 ? { resourceDrop: index } : { resourceRep: index };
  }

  #lift(reader: Reader): Canon {
    const coreFunc = this.#scope.index(reader, 'core func');
    const options = this.#options(reader);
    const offset = reader.position;
    const index = this.#scope.index(reader, 'type');
    const type = this.#scope.item('type', index).type;
    if (type?.def.kind !== 'func') reader.fail(`Type ${index} is not a func type`, offset);
    this.#scope.add({ sort: 'func', type });
    return { lift: { coreFunc, type: index, options } };
  }

  #lower(reader: Reader): Canon {
    const func = this.#scope.index(reader, 'func');
    const options = this.#options(reader);
    this.#scope.add({ sort: 'core func' });
    return { lower: { func, options } };
  }

  #options(reader: Reader): CanonOptions {
    const options: CanonOptions = { encoding: 'utf8' };
    const seen = new Set<string>();
    const count = reader.count(8, 'options of a canonical function');
    for (let index = 0; index < count; index++) {
      const offset = reader.position;
      const name = this.#option(reader, options);
      if (seen.has(name)) reader.fail(`Option "${name}" occurs twice`, offset);
      seen.add(name);
    }
    return options;
  }

  #option(reader: Reader, options: CanonOptions): string {
    const offset = reader.position;
    const code = reader.byte();
    const encoding = (['utf8', 'utf16', 'latin1+utf16'] as const)[code];
    if (encoding !== undefined) {
      options.encoding = encoding;
      return 'string-encoding';
    }
    const named = ({ 3: 'memory', 4: 'realloc', 5: 'postReturn' } as const)[code as 3 | 4 | 5];
    if (named === undefined) reader.fail('Asynchronous functions are not allowed', offset);
    options[named] = this.#scope.index(reader, named === 'memory' ? 'core memory' : 'core func');
    return named;
  }
}

function readList<Part>(reader: Reader, what: string, read: () => Part): Part[] {
  const count = reader.count(CAPS.exports, what);
  return Array.from({ length: count }, read);
}

function readPresence(reader: Reader): boolean {
  const present = reader.byte();
  if (present > 1) reader.fail('A presence byte is neither 0 nor 1', reader.position - 1);
  return present === 1;
}
