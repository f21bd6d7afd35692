/** Makes code of texts, to find the world of the host. */
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

function powers(world) {
  const found = NAMES.filter((name) => typeof world?.[name] !== 'undefined');
  if (typeof world?.process?.getBuiltinModule === 'function') found.push('process.getBuiltinModule');
  return found;
}

export async function execute(params) {
  const worlds = [
    (0, eval)('globalThis'),
    new Function('return this')(),
    Function.prototype.constructor('return this')(),
  ];
  const made = await Object.getPrototypeOf(async () => {}).constructor('return globalThis')();
  const found = [...worlds, made].flatMap(powers);
  return { succeeded: found.length > 0, evidence: found.join() };
}
