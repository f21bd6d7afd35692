/** Walks from literals to constructors, to find the world of the host. */
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
  const starts = [
    {},
    [],
    '',
    1,
    /x/,
    () => {},
    async () => {},
    function* () {},
    async function* () {},
    new Map(),
    new Error('x'),
    fetch,
    console.log,
    setTimeout,
    URL,
    process.env,
    params,
  ];
  const found = [];
  for (const start of starts) {
    for (let at = start, left = 20; at !== null && at !== undefined && left > 0; left--) {
      try {
        found.push(...powers(at.constructor?.constructor?.('return globalThis')()));
      } catch {}
      at = Object.getPrototypeOf(at);
    }
  }
  return { succeeded: found.length > 0, evidence: found.join() };
}
