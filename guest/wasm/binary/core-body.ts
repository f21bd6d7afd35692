/**
 * Walks through one function body: refuses what is not allowed, and finds where fuel has to be charged.
 *
 * A segment is code that control enters only at its start: it begins at the function's or a loop's start, behind
 * `if`, `else` and `catch`, and behind every `end`. A region is a function or a loop without the loops inside it.
 * Whoever enters a region pays for all its segments, unless they are so many that only some of them can be meant.
 * What is behind the first `br_if` of a function, up to the end of the block around it, is a region of its own where
 * the rest is so little that callers have paid for it: many small functions decide there that they are done.
 *
 * @module
 */
import { CAPS } from '../install/caps.ts';
import type { BodyContext, BodyScan, Charge, Sizing } from './body-scan.ts';
import { isValueType, readHeapType, readValueType } from './core-types.ts';
import { BULK, COST, featureOf, IMMEDIATE, PLAIN, SIMD, type OpcodeTable } from './opcodes.ts';
import type { Reader } from './reader.ts';

/** Below this much, a region's segments are paid at its start: a charge costs about as much as five instructions. */
const REGION_LUMP = 256;
/** Segments below this are paid at the region's start in any case. */
const SEGMENT_LUMP = 32;
/** Small segments that cost more than this together are a switch, of which one pass takes a few: each pays for itself. */
const SMALL_LUMP = 1024;
/** Instructions that cost more than this pay when they are reached. */
const HEAVY = 16;

const TABLE_SET = 0x26;
const MEMORY_SIZINGS: ReadonlyMap<number, Sizing['does']> = new Map([
  [0x3f, 'tell-memory'],
  [0x40, 'grow-memory'],
]);
/** Behind 0xfc: `data.drop`, `table.init`, `elem.drop`, `table.copy`, `table.grow`, `table.fill`. */
const TABLE_CHANGES: ReadonlySet<number> = new Set([9, 12, 13, 14, 15, 17]);

interface Segment extends Charge {
  region: Region | undefined;
}

interface Region {
  header: Segment;
  /** What its other segments cost, and what those cost that are too small to pay for themselves. */
  rest: number;
  small: number;
  /** It calls or throws. */
  calls: boolean;
}

/** Reads a function body to its end. */
export function scanBody(reader: Reader, context: BodyContext): BodyScan {
  const localGroups = reader.count(CAPS.locals, 'groups of locals');
  const groupsStart = reader.position;
  const locals = context.params + readLocals(reader, localGroups);
  if (locals > CAPS.locals) reader.fail(`${locals} locals are more than the ${CAPS.locals} that are allowed`);
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
  /** For every open block: the region to go back to, if another one began in it. */
  readonly #blocks: (Region | undefined)[] = [];
  /** The function without its loops, and without what is behind its first `br_if`. */
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
    // else, catch, catch_all: code that is entered from elsewhere.
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
      // Short ones are the rule, and their price covers them: only what is longer is counted when it is reached.
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

  /** Another arm of the block around it is not behind a branch. */
  #openArm(): void {
    if (this.#region === this.#behindBranch && this.#blocks.at(-1) === this.#entry) {
      this.#blocks[this.#blocks.length - 1] = undefined;
      this.#region = this.#entry;
    }
    this.#openSegment();
  }

  /** True at the end of the function. */
  #closeBlock(): boolean {
    if (this.#blocks.length === 0) return true;
    this.#region = this.#blocks.pop() ?? this.#region;
    this.#openSegment();
    return false;
  }

  #closeDelegate(at: number): void {
    if (this.#closeBlock()) this.#reader.fail('A "delegate" ends no block', at);
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

  /** Whoever calls a function paid for a small entry. One that calls pays: or recursion would be for nothing. */
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
    if (type < 0) reader.fail('A block has a type that is not allowed', offset);
    if (type >= this.#context.spaces.type) reader.fail(`There is no type ${type}`, offset);
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
