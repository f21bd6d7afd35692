/**
 * Turns the source of a bundle into what a cell loads: TypeScript without its types, with unchanged lines, and findings
 * about what the skill's own code needs. Untrusted text is read here, in a process without any rights.
 *
 * @module
 */
import { stripTypeScriptTypes } from 'node:module';
import { BUNDLE, resolveModule } from '../cell/modules.ts';
import { findIn, type Finding, type Findings } from './findings.ts';

const PLACE = /^source:(\d+)\n/;
const MAX_MESSAGE = 300;

export interface Prepared {
  /** JavaScript and JSON by path. */
  modules: [path: string, text: string][];
  findings: Findings & { unparsed: Finding[] };
}

/** `files`: text of every script and JSON file by path. */
export function prepareSources(files: ReadonlyMap<string, string>, entry: string): Prepared {
  const unparsed = new Map<string, Finding>();
  const bundle = new Map<string, string>();
  for (const [path, text] of files) {
    const stripped = withoutTypes(path, text);
    if (typeof stripped === 'string') {
      bundle.set(path, stripped);
      continue;
    }
    unparsed.set(path, stripped);
    // A file that nothing imports may contain anything; an importer gets the error.
    bundle.set(path, `throw new SyntaxError(${JSON.stringify(`${stripped.at}: ${stripped.value}`)});`);
  }
  const reached = reachable(entry, bundle);
  const findings = reached.map((path) => findIn(unparsed.has(path) ? '' : (bundle.get(path) ?? ''), path));
  const all = (kind: keyof Findings): Finding[] => findings.flatMap((one) => one[kind]);
  return {
    modules: [...bundle],
    findings: {
      imports: all('imports'),
      env: all('env'),
      hosts: all('hosts'),
      fetches: all('fetches'),
      calls: all('calls'),
      unparsed: reached.flatMap((path) => unparsed.get(path) ?? []),
    },
  };
}

/** JavaScript, or the reason why the file cannot be converted. */
function withoutTypes(path: string, text: string): string | Finding {
  if (!/\.[cm]?ts$/.test(path)) return text;
  try {
    return stripTypeScriptTypes(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = lineOf(text);
    return { value: message.slice(0, MAX_MESSAGE), at: line === undefined ? path : `${path}:${line}` };
  }
}

/** Node reports the location only in the stack, and only for a source with a name. */
function lineOf(text: string): string | undefined {
  try {
    stripTypeScriptTypes(text, { sourceUrl: 'source' });
    return undefined;
  } catch (error) {
    return PLACE.exec((error as Error).stack ?? '')?.[1];
  }
}

/** Files that the entry imports, directly or indirectly, through literal specifiers. */
function reachable(entry: string, bundle: ReadonlyMap<string, string>): string[] {
  const reached = new Set([entry]);
  for (const path of reached) {
    if (path.endsWith('.json')) continue;
    for (const { value } of findIn(bundle.get(path) ?? '', path).imports) {
      const found = resolved(value, path, bundle);
      if (found !== undefined) reached.add(found);
    }
  }
  return [...reached].filter((path) => !path.endsWith('.json'));
}

function resolved(
  specifier: string,
  importer: string,
  bundle: ReadonlyMap<string, string>,
): string | undefined {
  try {
    const name = resolveModule(specifier, BUNDLE + importer, { bundle, prelude: new Map() });
    return name.startsWith(BUNDLE) ? name.slice(BUNDLE.length) : undefined;
  } catch {
    return undefined;
  }
}
