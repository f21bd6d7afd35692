/**
 * A core module, parsed as far as clamping, metering and linking need it. Types inside function bodies are left
 * to the engine's own validation; sections, counts, names and indices are checked here.
 *
 * @module
 */
import { CAPS } from '../install/caps.ts';
import { readData, readElements } from './core-segments.ts';
import {
  CORE_KINDS,
  readConstant,
  readFuncType,
  readGlobalType,
  readLimits,
  readTableType,
  readTagType,
  type CoreKind,
  type FuncType,
  type GlobalType,
  type IndexSpaces,
  type Limits,
  type TableType,
} from './core-types.ts';
import type { Reader } from './reader.ts';

export interface CoreImport {
  module: string;
  name: string;
  kind: CoreKind;
  /** For a function. */
  type?: number;
  offset: number;
}

export interface CoreExport {
  name: string;
  kind: CoreKind;
  index: number;
}

export interface Section {
  id: number;
  start: number;
  end: number;
}

export interface CoreModule {
  /** The file that contains the module; all offsets count from its start. */
  bytes: Uint8Array;
  start: number;
  end: number;
  /** In order, without custom sections. */
  sections: Section[];
  types: FuncType[];
  imports: CoreImport[];
  exports: CoreExport[];
  /** The type of every function, imports first. */
  functionTypes: number[];
  /** Defined here, not imported. */
  tables: TableType[];
  memories: Limits[];
  globals: GlobalType[];
  bodies: Section[];
  startFunction: number | undefined;
  elementSegments: number;
  /** From the data count section. */
  dataCount: number | undefined;
  dataSegments: number;
  spaces: IndexSpaces;
}

/** Order of the sections by id: the tag section (13) and the data count (12) come between older ones. */
const ORDER: readonly number[] = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];
export const MODULE_HEADER: readonly number[] = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

type SectionReader = (reader: Reader, module: CoreModule) => void;

const SECTION_READERS: Readonly<Record<number, SectionReader>> = {
  1: readTypes,
  2: readImports,
  3: readFunctions,
  4: readTables,
  5: readMemories,
  6: readGlobals,
  7: readExports,
  8: readStart,
  9: (reader, module) => (module.elementSegments = readElements(reader, module.spaces)),
  10: readCode,
  11: (reader, module) => (module.dataSegments = readData(reader, module.spaces)),
  12: (reader, module) => (module.dataCount = reader.u32()),
  13: readTags,
};

/** Reads one core module from a file. */
export function parseCoreModule(source: Reader): CoreModule {
  const { bytes, position: start, end } = source;
  if (end - start > CAPS.moduleBytes) source.fail(`A module is larger than ${CAPS.moduleBytes} bytes`);
  for (const byte of MODULE_HEADER) {
    if (source.byte() !== byte)
      source.fail('The file does not start with the header of a core module, version 1', source.position - 1);
  }
  const module = emptyModule(bytes, start, end);
  let last = -1;
  while (!source.done) {
    const offset = source.position;
    const id = source.byte();
    const section = source.window(source.u32());
    if (id === 0) {
      section.name(section.end);
      continue;
    }
    const order = ORDER.indexOf(id);
    if (order < 0) source.fail(`Section ${id} is unknown`, offset);
    if (order <= last) source.fail(`Section ${id} is out of order or occurs twice`, offset);
    last = order;
    module.sections.push({ id, start: section.position, end: section.end });
    SECTION_READERS[id]?.(section, module);
    section.finish(`section ${id}`);
  }
  checkCounts(source, module);
  return module;
}

function emptyModule(bytes: Uint8Array, start: number, end: number): CoreModule {
  return {
    bytes,
    start,
    end,
    sections: [],
    types: [],
    imports: [],
    exports: [],
    functionTypes: [],
    tables: [],
    memories: [],
    globals: [],
    bodies: [],
    startFunction: undefined,
    elementSegments: 0,
    dataCount: undefined,
    dataSegments: 0,
    spaces: { type: 0, func: 0, table: 0, memory: 0, global: 0, tag: 0 },
  };
}

function checkCounts(source: Reader, module: CoreModule): void {
  const defined = module.functionTypes.length - module.imports.filter((item) => item.kind === 'func').length;
  if (defined !== module.bodies.length) {
    source.fail(`${defined} functions are declared, but ${module.bodies.length} have a body`);
  }
  if (module.dataCount !== undefined && module.dataCount !== module.dataSegments) {
    source.fail(`${module.dataCount} data segments are declared, but there are ${module.dataSegments}`);
  }
}

function readTypes(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.types, 'types');
  for (let index = 0; index < count; index++) module.types.push(readFuncType(reader));
  module.spaces.type = count;
}

function readImports(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.imports, 'imports');
  for (let index = 0; index < count; index++) {
    const offset = reader.position;
    const from = reader.name(CAPS.nameBytes);
    const name = reader.name(CAPS.nameBytes);
    const kind = readKind(reader);
    const type = readImportType(reader, kind, module);
    module.imports.push({ module: from, name, kind, offset, ...(kind === 'func' && { type }) });
    addTo(module, kind, reader);
    if (kind === 'func') module.functionTypes.push(type);
  }
}

function readKind(reader: Reader): CoreKind {
  const kind = CORE_KINDS[reader.byte()];
  return kind ?? reader.fail('An import or export has an unknown kind', reader.position - 1);
}

/** Returns the type index of a function. */
function readImportType(reader: Reader, kind: CoreKind, module: CoreModule): number {
  if (kind === 'func') return reader.index(module.spaces.type, 'type');
  if (kind === 'table') readTableType(reader);
  else if (kind === 'memory') readLimits(reader, 'memory');
  else if (kind === 'global') readGlobalType(reader);
  else readTagType(reader, module.spaces.type);
  return 0;
}

const KIND_CAPS: Readonly<Record<CoreKind, number>> = {
  func: CAPS.functions,
  table: CAPS.tables,
  memory: CAPS.memories,
  global: CAPS.globals,
  tag: CAPS.tags,
};

function addTo(module: CoreModule, kind: CoreKind, reader: Reader): void {
  module.spaces[kind]++;
  if (module.spaces[kind] <= KIND_CAPS[kind]) return;
  const why = kind === 'memory' ? ' (multi-memory)' : '';
  reader.fail(`A module may have at most ${KIND_CAPS[kind]} of kind "${kind}"${why}`);
}

function readFunctions(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.functions, 'functions');
  for (let index = 0; index < count; index++) {
    module.functionTypes.push(reader.index(module.spaces.type, 'type'));
    addTo(module, 'func', reader);
  }
}

function readTables(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.tables, 'tables');
  for (let index = 0; index < count; index++) {
    module.tables.push(readTableType(reader));
    addTo(module, 'table', reader);
  }
}

function readMemories(reader: Reader, module: CoreModule): void {
  const count = reader.u32();
  for (let index = 0; index < count; index++) {
    addTo(module, 'memory', reader);
    module.memories.push(readLimits(reader, 'memory'));
  }
}

function readGlobals(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.globals, 'globals');
  for (let index = 0; index < count; index++) {
    module.globals.push(readGlobalType(reader));
    readConstant(reader, module.spaces);
    addTo(module, 'global', reader);
  }
}

function readTags(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.tags, 'tags');
  for (let index = 0; index < count; index++) {
    readTagType(reader, module.spaces.type);
    addTo(module, 'tag', reader);
  }
}

function readExports(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.exports, 'exports');
  const names = new Set<string>();
  for (let index = 0; index < count; index++) {
    const offset = reader.position;
    const name = reader.name(CAPS.nameBytes);
    if (names.has(name)) reader.fail('Two exports have the same name', offset);
    names.add(name);
    const kind = readKind(reader);
    module.exports.push({ name, kind, index: reader.index(module.spaces[kind], kind) });
  }
}

function readStart(reader: Reader, module: CoreModule): void {
  const offset = reader.position;
  const start = reader.index(module.spaces.func, 'function');
  const type = module.types[module.functionTypes[start] ?? -1];
  if (type === undefined || type.params.length + type.results.length > 0) {
    reader.fail('The start function has parameters or results', offset);
  }
  module.startFunction = start;
}

function readCode(reader: Reader, module: CoreModule): void {
  const count = reader.count(CAPS.functions, 'function bodies');
  for (let index = 0; index < count; index++) {
    const offset = reader.position;
    const size = reader.u32();
    if (size > CAPS.bodyBytes) {
      reader.fail(`A function of ${size} bytes is larger than the maximum of ${CAPS.bodyBytes}`, offset);
    }
    const body = reader.window(size);
    module.bodies.push({ id: index, start: body.position, end: body.end });
  }
}
