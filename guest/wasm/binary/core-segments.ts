/**
 * Element and data segments of a core module.
 *
 * @module
 */
import { CAPS } from '../install/caps.ts';
import { readConstant, readReferenceType, type IndexSpaces } from './core-types.ts';
import type { Reader } from './reader.ts';

/** Returns the number of element segments. */
export function readElements(reader: Reader, spaces: IndexSpaces): number {
  const count = reader.count(CAPS.elementSegments, 'element segments');
  let entries = 0;
  for (let index = 0; index < count; index++) {
    entries += readElement(reader, spaces);
    if (entries > CAPS.elementEntries)
      reader.fail(`Element segments contain more than ${CAPS.elementEntries} entries`);
  }
  return count;
}

/** Flag bits: 1 = not active, 2 = names a table or is only declared, 4 = contains expressions. */
function readElement(reader: Reader, spaces: IndexSpaces): number {
  const flags = reader.u32();
  if (flags > 7) reader.fail('An element segment has unknown flags');
  const active = (flags & 1) === 0;
  if (active) {
    const table = flags & 2 ? reader.u32() : 0;
    if (table >= spaces.table) reader.fail(`Table ${table} does not exist`);
    readConstant(reader, spaces);
  }
  if ((flags & 3) !== 0) readElementKind(reader, (flags & 4) !== 0);
  const count = reader.count(CAPS.elementEntries, 'entries of an element segment');
  for (let index = 0; index < count; index++) {
    if (flags & 4) readConstant(reader, spaces);
    else reader.index(spaces.func, 'function');
  }
  return count;
}

function readElementKind(reader: Reader, expressions: boolean): void {
  if (expressions) readReferenceType(reader);
  else if (reader.byte() !== 0) reader.fail('An element segment has an unknown kind', reader.position - 1);
}

/** Returns the number of data segments. */
export function readData(reader: Reader, spaces: IndexSpaces): number {
  const count = reader.count(CAPS.dataSegments, 'data segments');
  for (let index = 0; index < count; index++) {
    const flags = reader.u32();
    if (flags > 2) reader.fail('A data segment has unknown flags');
    if (flags === 2) reader.index(spaces.memory, 'memory');
    if (flags !== 1) {
      if (spaces.memory === 0) reader.fail('A data segment has no memory');
      readConstant(reader, spaces);
    }
    reader.skip(reader.u32());
  }
  return count;
}
