/** Imports the modules in front of it, with the functions of the host. */
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
  const names = ['host', 'pending', 'skill', 'main', 'denials'].flatMap((name) =>
    [
      'skillcell:prelude/',
      'skillcell:',
      './',
      '/skill/../prelude/',
      '/prelude/',
      'skillcell:prelude/../prelude/',
    ].map((place) => `${place}${name}.js`),
  );
  return tryAll(names, ({ host, ask, serve }) => Boolean(host ?? ask ?? serve));
}
