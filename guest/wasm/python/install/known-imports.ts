/**
 * The imports of the engine that our layer was written for. Any other list means another engine, and is refused.
 *
 * @module
 */
import { createHash } from 'node:crypto';

/** sha256 over the sorted lines `module.name kind`. */
const KNOWN_IMPORTS = 'f738447b23b8b700fb23047a60e596efffb48e363eac573923a46351784eac01';

export function checkImports(module: WebAssembly.Module): void {
  const lines = WebAssembly.Module.imports(module).map((one) => `${one.module}.${one.name} ${one.kind}`);
  const found = createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
  if (found !== KNOWN_IMPORTS) throw new Error(`The engine has unexpected imports: ${found}`);
}
