/**
 * `@cloudflare/codemode/ai` imports a module that only Workers have, for classes that are not used here. This gives Node an
 * empty one; everything else is the real package.
 *
 * @module
 */
import { registerHooks } from 'node:module';

const EMPTY = 'export class RpcTarget {}; export class DurableObject {}; export class WorkerEntrypoint {};';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: `data:text/javascript,${encodeURIComponent(EMPTY)}`, shortCircuit: true }
      : next(specifier, context),
});
