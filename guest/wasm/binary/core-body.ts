/**
 * Scans one function body: refuses what is not allowed, and finds where fuel must be charged.
 *
 * A segment is code that control enters only at its start: it begins at the start of the function or of a loop, after
 * `if`, `else` and `catch`, and after every `end`. A region is a function or a loop without the loops inside it.
 * Entering a region pays for all its segments, unless there are so many that only some of them can run.
 * Code after the first `br_if` of a function, up to the end of the enclosing block, is a separate region if the rest is
 * so small that callers have paid for it: many small functions return early there.
 *
 * @module
 */
import { CAPS } from '../install/caps.ts';
import type { BodyContext, BodyScan, Charge, Sizing } from './body-scan.ts';
import { isValueType, readHeapType, readValueType } from './core-types.ts';
import { BULK, COST, featureOf, IMMEDIATE, PLAIN, SIMD, type OpcodeTable } from './opcodes.ts';
import type { Reader } from './reader.ts';

/** Below this cost, all segments are paid at the start of the region: a charge costs about as much as five instructions. */
const REGION_LUMP = 256;
/** Segments below this cost are always paid at the start of the region. */
const SEGMENT_LUMP = 32;
/** Small segments that together cost more than this are a switch, of which one pass runs only a few: each pays for itself. */
const SMALL_LUMP = 1024;
/** Instructions above this cost are charged where they are reached. */
const HEAVY = 16;

const TABLE_SET = 0x26;
const MEMORY_SIZINGS: ReadonlyMap<number, Sizing['does']> = new Map([
  [0x3f, 'query-memory'],
  [0x40, 'grow-memory'],
]);
/** After prefix 0xfc: `data.drop`, `table.init`, `elem.drop`, `table.copy`, `table.grow`, `table.fill`. */
const TABLE_CHANGES: ReadonlySet<number> = new Set([9, 12, 13, 14, 15, 17]);

interface Segment extends Charge {
  region: Region | undefined;
}

interface Region {
  header: Segment;
  /** Cost of its other segments, and of those too small to pay for themselves. */
  rest: number;
  small: number;
  /** Whether it calls or throws. */
  calls: boolean;
}

/** Scans a function body to its end. */
export function scanBody(reader: Reader, context: BodyContext): BodyScan {
  const localGroups = reader.count(CAPS.locals, 'groups of locals');
  const groupsStart = reader.position;
  const locals = context.params + readLocals(reader, localGroups);
  if (locals > CAPS.locals) reader.fail(`${locals} locals exceed the maximum of ${CAPS.locals}`);
  const codeStart = reader.position;
  const scanner = new BodyScanner(reader, context, locals);
  const charges = scanner.run();
  const { sizings, changesTables } = scanner;
  return { charges, sizings, changesTables, codeStart, locals, localGroups, groupsStart };
}

function readLocals(reader: Reader, groups: number): number {
  let locals = 0;
  for (let index = 0; index < groups; index++) {
    locals += reader.u32();
    readValueType(reader);
  }
  return locals;
}

class BodyScanner {
  readonly sizings: Sizing[] = [];
  changesTables = false;
  readonly #reader: Reader;
  readonly #context: BodyContext;
  readonly #locals: number;
  readonly #segments: Segment[] = [];
  /** For every open block: the region to return to, if another one began inside it. */
  readonly #blocks: (Region | undefined)[] = [];
  /** The function without its loops and without the code after its first `br_if`. */
  readonly #entry: Region;
  #behindBranch: Region | undefined;
  #region: Region;
  #segment: Segment;

  constructor(reader: Reader, context: BodyContext, locals: number) {
    this.#reader = reader;
    this.#context = context;
    this.#locals = locals;
    this.#entry = this.#openRegion();
    this.#region = this.#entry;
    this.#segment = this.#region.header;
    // Locals are set to zero on entry.
    this.#segment.cost = 1 + (locals >> 2);
  }

  run(): Charge[] {
    const reader = this.#reader;
    for (;;) {
      const at = reader.position;
      const opcode = reader.byte();
      if (opcode === 0xfc || opcode === 0xfd) this.#prefixed(opcode, at);
      else this.#plain(opcode, at);
      if (opcode === 0x0b && this.#closeBlock()) break;
    }
    reader.finish('function body');
    return this.#settle();
  }

  #plain(opcode: number, at: number): void {
    const kind = PLAIN.immediates[opcode] as number;
    if (kind === IMMEDIATE.refused) this.#refuse(opcode >= 0xe0 ? opcode : 0, opcode, at);
    this.#charge(PLAIN, opcode, at);
    if ((opcode >= 0x08 && opcode <= 0x0a) || (opcode >= 0x10 && opcode <= 0x13)) this.#region.calls = true;
    if (kind !== IMMEDIATE.none) this.#immediate(kind);
    const does = MEMORY_SIZINGS.get(opcode);
    if (does) this.sizings.push({ from: at, to: this.#reader.position, does });
    if (opcode === TABLE_SET) this.changesTables = true;
    if (opcode === 0x0d) this.#openBehindBranch();
    // else, catch, catch_all: code that can be entered from elsewhere.
    else if (opcode === 0x05 || opcode === 0x07 || opcode === 0x19) this.#openArm();
    else if (opcode === 0x04) this.#openSegment();
    if (kind === IMMEDIATE.block || kind === IMMEDIATE.tryTable) this.#openBlock(opcode);
    else if (opcode === 0x18) this.#closeDelegate(at);
  }

  #prefixed(prefix: number, at: number): void {
    const opcode = this.#reader.u32();
    const table = prefix === 0xfc ? BULK : SIMD;
    const kind = table.immediates[opcode] ?? IMMEDIATE.refused;
    if (kind === IMMEDIATE.refused) this.#refuse(prefix, opcode, at);
    this.#charge(table, opcode, at);
    if (kind !== IMMEDIATE.none) this.#immediate(kind);
    if (table !== BULK) return;
    if (opcode === 15) this.sizings.push({ from: at, to: this.#reader.position, does: 'grow-table' });
    this.changesTables ||= TABLE_CHANGES.has(opcode);
  }

  #refuse(prefix: number, opcode: number, at: number): never {
    const code = prefix === 0 || prefix === opcode ? opcode.toString(16) : `${prefix.toString(16)} ${opcode}`;
    return this.#reader.fail(`Instruction 0x${code} is refused: ${featureOf(prefix, opcode)}`, at);
  }

  #charge(table: OpcodeTable, opcode: number, at: number): void {
    const cost = table.costs[opcode] as number;
    const length = table.lengths[opcode];
    if (length === 'bytes') {
      // The price of the instruction covers short operands, which are the rule; only longer ones are charged by length.
      this.#segment.cost += cost;
      this.#segments.push({ at, cost: 0, length, region: undefined, ends: true });
    } else if (cost <= HEAVY && length === undefined) this.#segment.cost += cost;
    else this.#segments.push({ at, cost, length, region: undefined, ends: true });
  }

  #openRegion(): Region {
    const header: Segment = this.#newSegment({ cost: 1, region: undefined });
    this.#segments.push(header);
    return { header, rest: 0, small: 0, calls: false };
  }

  #openSegment(): void {
    this.#segment = this.#newSegment({ cost: 0, region: this.#region });
    this.#segments.push(this.#segment);
  }

  #newSegment({ cost, region }: Pick<Segment, 'cost' | 'region'>): Segment {
    return { at: this.#reader.position, cost, length: undefined, region, ends: region === undefined };
  }

  #openBlock(opcode: number): void {
    if (this.#blocks.length >= CAPS.nesting)
      this.#reader.fail(`Blocks are nested deeper than ${CAPS.nesting}`);
    this.#blocks.push(opcode === 0x03 ? this.#region : undefined);
    if (opcode !== 0x03) return;
    this.#region = this.#openRegion();
    this.#segment = this.#region.header;
  }

  #openBehindBranch(): void {
    const around = this.#blocks.length - 1;
    if (this.#behindBranch || around < 0 || this.#region !== this.#entry || this.#entry.calls) return;
    this.#blocks[around] = this.#entry;
    this.#behindBranch = this.#openRegion();
    this.#region = this.#behindBranch;
    this.#segment = this.#region.header;
  }

  /** Another branch of the enclosing block is not after the `br_if`. */
  #openArm(): void {
    if (this.#region === this.#behindBranch && this.#blocks.at(-1) === this.#entry) {
      this.#blocks[this.#blocks.length - 1] = undefined;
      this.#region = this.#entry;
    }
    this.#openSegment();
  }

  /** Returns true at the end of the function. */
  #closeBlock(): boolean {
    if (this.#blocks.length === 0) return true;
    this.#region = this.#blocks.pop() ?? this.#region;
    this.#openSegment();
    return false;
  }

  #closeDelegate(at: number): void {
    if (this.#closeBlock()) this.#reader.fail('A "delegate" does not end a block', at);
  }

  /** Decides which segments pay for themselves. */
  #settle(): Charge[] {
    if (this.#behindBranch && !this.#isPrepaid(this.#costOf(this.#entry)))
      this.#joinEntry(this.#behindBranch);
    for (const { region, cost } of this.#segments) {
      if (region === undefined) continue;
      region.rest += cost;
      if (cost < SEGMENT_LUMP) region.small += cost;
    }
    for (const segment of this.#segments) {
      const { region } = segment;
      if (
        region === undefined ||
        (region.rest > REGION_LUMP && (segment.cost >= SEGMENT_LUMP || region.small > SMALL_LUMP))
      )
        continue;
      region.header.cost += segment.cost;
      segment.cost = 0;
    }
    const charges = this.#segments.filter((segment) => segment.cost > 0 || segment.length !== undefined);
    return this.#isPrepaid(this.#entry.header.cost)
      ? charges.filter((charge) => charge !== this.#entry.header)
      : charges;
  }

  /** Callers have paid for a small function entry. A function that calls others pays itself, so that recursion is not free. */
  #isPrepaid(cost: number): boolean {
    return cost <= COST.prepaid && !this.#entry.calls;
  }

  #costOf(region: Region): number {
    let { cost } = region.header;
    for (const segment of this.#segments) if (segment.region === region) cost += segment.cost;
    return cost;
  }

  #joinEntry(region: Region): void {
    for (const segment of this.#segments) if (segment.region === region) segment.region = this.#entry;
    region.header.region = this.#entry;
    this.#entry.calls ||= region.calls;
  }

  #immediate(kind: number): void {
    const reader = this.#reader;
    const { spaces } = this.#context;
    switch (kind) {
      case IMMEDIATE.local:
        return void reader.index(this.#locals, 'local');
      case IMMEDIATE.memarg:
        return this.#memarg();
      case IMMEDIATE.i32:
        return void reader.signed(32);
      case IMMEDIATE.i64:
        return reader.skipS64();
      case IMMEDIATE.label:
        return void reader.index(this.#blocks.length + 1, 'label');
      case IMMEDIATE.block:
        return this.#blockType();
      case IMMEDIATE.func:
        return void reader.index(spaces.func, 'function');
      case IMMEDIATE.global:
        return void reader.index(spaces.global, 'global');
      case IMMEDIATE.callIndirect:
        reader.index(spaces.type, 'type');
        return void reader.index(spaces.table, 'table');
      case IMMEDIATE.four:
        return reader.skip(4);
      case IMMEDIATE.eight:
        return reader.skip(8);
      case IMMEDIATE.sixteen:
        return reader.skip(16);
      case IMMEDIATE.lane:
        return reader.skip(1);
      case IMMEDIATE.memargLane:
        this.#memarg();
        return reader.skip(1);
      default:
        return this.#rareImmediate(kind);
    }
  }

  #rareImmediate(kind: number): void {
    const reader = this.#reader;
    const { spaces, dataSegments, elementSegments } = this.#context;
    if (kind === IMMEDIATE.memory) this.#memoryIndex();
    else if (kind === IMMEDIATE.table) reader.index(spaces.table, 'table');
    else if (kind === IMMEDIATE.branchTable) this.#branchTable();
    else if (kind === IMMEDIATE.tag) reader.index(spaces.tag, 'tag');
    else if (kind === IMMEDIATE.heapType) readHeapType(reader);
    else if (kind === IMMEDIATE.selectTypes) this.#selectTypes();
    else if (kind === IMMEDIATE.tryTable) this.#tryTable();
    else if (kind === IMMEDIATE.data) reader.index(dataSegments, 'data segment');
    else if (kind === IMMEDIATE.element) reader.index(elementSegments, 'element segment');
    else if (kind === IMMEDIATE.memoryInit) {
      reader.index(dataSegments, 'data segment');
      this.#memoryIndex();
    } else if (kind === IMMEDIATE.memoryCopy) {
      this.#memoryIndex();
      this.#memoryIndex();
    } else if (kind === IMMEDIATE.tableInit) {
      reader.index(elementSegments, 'element segment');
      reader.index(spaces.table, 'table');
    } else if (kind === IMMEDIATE.tableCopy) {
      reader.index(spaces.table, 'table');
      reader.index(spaces.table, 'table');
    }
  }

  #blockType(): void {
    const reader = this.#reader;
    const next = reader.peek();
    if (next === 0x40 || isValueType(next)) return reader.skip(1);
    const offset = reader.position;
    const type = reader.signed(33);
    if (type < 0) reader.fail('The type of a block is not allowed', offset);
    if (type >= this.#context.spaces.type) reader.fail(`Type ${type} does not exist`, offset);
  }

  #memarg(): void {
    const offset = this.#reader.position;
    const align = this.#reader.u32();
    if (align & 0x40) this.#reader.fail('More than one memory is not allowed (multi-memory)', offset);
    if (align > 4) this.#reader.fail('An alignment is too large', offset);
    this.#reader.u32();
  }

  #memoryIndex(): void {
    const offset = this.#reader.position;
    if (this.#reader.u32() !== 0)
      this.#reader.fail('More than one memory is not allowed (multi-memory)', offset);
  }

  #branchTable(): void {
    const count = this.#reader.count(CAPS.branchTargets, 'targets of a "br_table"');
    for (let index = 0; index <= count; index++) this.#reader.index(this.#blocks.length + 1, 'label');
  }

  #selectTypes(): void {
    const count = this.#reader.count(1, 'types of a "select"');
    for (let index = 0; index < count; index++) readValueType(this.#reader);
  }

  #tryTable(): void {
    this.#blockType();
    const count = this.#reader.count(CAPS.branchTargets, 'handlers of a "try_table"');
    for (let index = 0; index < count; index++) {
      const kind = this.#reader.byte();
      if (kind > 3)
        this.#reader.fail('An exception handler is of an unknown kind', this.#reader.position - 1);
      if (kind < 2) this.#reader.index(this.#context.spaces.tag, 'tag');
      this.#reader.index(this.#blocks.length + 1, 'label');
    }
  }
}
