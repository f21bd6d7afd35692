/**
 * Helpers for the tables of the vocabulary.
 *
 * @module
 */

/** The keys of a table, in its order. */
export function namesOf<Table extends object>(table: Table): readonly NameIn<Table>[] {
  return Object.keys(table) as NameIn<Table>[];
}

export type NameIn<Table> = keyof Table & string;

/** Names of the rows that have this property with this value. */
export type NamesWhere<Table, Property extends PropertyKey, Value> = {
  [Name in NameIn<Table>]: Table[Name] extends Readonly<Record<Property, Value>> ? Name : never;
}[NameIn<Table>];

/** One value per row. Rows are not listed by hand, so none can be forgotten. */
export function mapTable<Table extends object, Value>(
  table: Table,
  make: (name: NameIn<Table>, row: Table[NameIn<Table>]) => Value,
): Record<NameIn<Table>, Value> {
  const entries = namesOf(table).map((name) => [name, make(name, table[name])]);
  return Object.fromEntries(entries) as Record<NameIn<Table>, Value>;
}

/** A list of names that is not empty, as zod and commander require. */
export type Choices<Name extends string> = readonly [Name, ...Name[]];

/** The names of a table as choices. */
export function choicesIn<Table extends object>(table: Table): Choices<NameIn<Table>> {
  return choicesOf(namesOf(table));
}

/** The names as a tuple. */
export function choicesOf<Name extends string>(names: readonly Name[]): [Name, ...Name[]] {
  const [first, ...others] = names;
  if (first === undefined) throw new TypeError('A list of choices is never empty');
  return [first, ...others];
}
