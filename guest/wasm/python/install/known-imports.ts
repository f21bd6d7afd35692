/**
 * The imports of the engine that our layer was written for. Any other list means another engine, and is refused.
 *
 * @module
 */
import { createHash } from 'node:crypto';

/** sha256 over the sorted lines `module.name kind`. */
const KNOWN_IMPORTS = '598fe0b1292f469b543f80c0a46e76ac7008ab27b0d7260779e8b332b069ae9f';

export function checkImports(module: WebAssembly.Module): void {
  const lines = WebAssembly.Module.imports(module).map((one) => `${one.module}.${one.name} ${one.kind}`);
  const found = createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
  if (found !== KNOWN_IMPORTS) throw new Error(`The engine has unexpected imports: ${found}`);
}
