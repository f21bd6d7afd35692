/** Imports the prelude's modules from generated code. */
export async function execute(params) {
  const found = [];
  for (const name of [
    './host.js',
    './pending.js',
    'skillcell:prelude/host.js',
    '../../etc/passwd',
    'node:fs',
  ]) {
    const makers = [
      () => new Function('name', 'return import(name)')(name),
      () => (0, eval)(`import(${JSON.stringify(name)})`),
      () => (0, eval)(`import(${JSON.stringify(name)})\n//# sourceURL=skillcell:prelude/main.js`),
      () => [name].map(eval.bind(null, `import(${JSON.stringify(name)})`))[0],
    ];
    for (const make of makers) {
      try {
        await make();
        found.push(name);
      } catch {}
    }
  }
  return { succeeded: found.length > 0, evidence: found.join() };
}
