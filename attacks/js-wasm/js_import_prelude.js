/** Imports the prelude's modules, which hold the host functions. */
import { tryAll } from './import-all.js';

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
