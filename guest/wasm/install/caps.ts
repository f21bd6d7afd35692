/**
 * Maximum sizes of a binary in every dimension, in one table, so that the cost of compiling untrusted code
 * stays bounded. Real components (StarlingMonkey, QuickJS, Go) stay well below.
 *
 * @module
 */
export const CAPS = {
  fileBytes: 67_108_864,
  moduleBytes: 33_554_432,
  /** For one function, before and after fuel charges are inserted: V8 itself stops at 7.6 MB. */
  bodyBytes: 1_048_576,
  meteredBodyBytes: 6_291_456,
  functions: 60_000,
  types: 10_000,
  params: 1_000,
  results: 1_000,
  locals: 5_000,
  /** Nesting of blocks in one function. */
  nesting: 2_000,
  branchTargets: 50_000,
  imports: 10_000,
  exports: 10_000,
  nameBytes: 1_024,
  tables: 8,
  tableEntries: 200_000,
  memories: 1,
  globals: 20_000,
  tags: 1_000,
  elementSegments: 10_000,
  elementEntries: 200_000,
  dataSegments: 50_000,
  constantInstructions: 64,
  /** For the whole file, nested components included. */
  modules: 64,
  components: 256,
  /** Core modules and components that one call instantiates, counted through nested components. */
  instances: 256,
  definitions: 50_000,
  componentNesting: 8,
  /** Nesting of component and instance types. */
  typeNesting: 8,
  /** For one value type, counted through everything it refers to. */
  valueDepth: 64,
  valueNodes: 10_000,
  labels: 4_096,
  flags: 32,
} as const;
