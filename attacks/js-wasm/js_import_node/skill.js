/** Imports modules of Node. */
async function tryAll(names, isGood) {
  const found = [];
  for (const name of names) {
    try {
      const made = await import(name);
      if (isGood(made)) found.push(name);
    } catch {}
  }
  return { succeeded: found.length > 0, evidence: found.join() };
}

export async function execute(params) {
  return tryAll(
    ['node:fs', 'fs', 'node:child_process', 'node:process', 'node:module', 'node:vm'],
    () => true,
  );
}
