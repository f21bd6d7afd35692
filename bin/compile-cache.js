/**
 * Node's cache of compiled modules, in a folder that only this user can write to. Cached code runs, so
 * the shared default under the temporary folder is not safe.
 *
 * @module
 */
import module from 'module';
import { privateCache } from './private-cache.js';

/** Enables the cache. Without a safe folder there is none, which only makes starting slower. */
export function useCompileCache() {
  const folder = privateCache('compiled');
  // Node 20 has none.
  if (folder !== undefined && module.enableCompileCache) module.enableCompileCache(folder);
}
