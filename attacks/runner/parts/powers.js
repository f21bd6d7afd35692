const NAMES = [
  'require',
  'module',
  'std',
  'os',
  'bjson',
  'WebAssembly',
  'Worker',
  'Deno',
  'Bun',
  '__skillcell',
  'gc',
  'print',
  'load',
  'scriptArgs',
];

/** Globals of a world that no skill should have. */
export function powers(world) {
  const found = NAMES.filter((name) => typeof world?.[name] !== 'undefined');
  if (typeof world?.process?.getBuiltinModule === 'function') found.push('process.getBuiltinModule');
  return found;
}
