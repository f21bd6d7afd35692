/**
 * Links the modules of a cell into one script, because loading fifty files takes a new process longer than running them. Knows
 * only the forms of `import` and `export` that our guest code uses, and refuses any other.
 *
 * @module
 */
import { posix } from 'node:path';

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*'([^']+)';/gm;
const EXPORT = /^export +((?:async )?function\*?|class|const) ([A-Za-z_$][\w$]*)/gm;
const LEFT_OVER = /^(?:import|export)\b.*/m;
const TOP_LEVEL_AWAIT = /^(?:const .* = )?await /m;
const OWN_URL = "require('node:url').pathToFileURL(__filename).href";

/** `texts` are modules of JavaScript by path; cycles are refused. The result is a CommonJS script for the place of the entry. */
export function linkModules(texts: Readonly<Record<string, string>>, entry: string): string {
  const modules: string[] = [];
  /** The variable with what a module exports; undefined while it is linked. */
  const names = new Map<string, string | undefined>();
  const visit = (path: string): string => {
    const known = names.get(path);
    if (known !== undefined) return known;
    if (names.has(path)) throw new Error(`${path} imports itself`);
    names.set(path, undefined);
    const text = moduleText(path, { texts, visit, isEntry: path === entry });
    const name = `$${modules.length}`;
    names.set(path, name);
    modules.push(`const ${name} = ${text};\n`);
    return name;
  };
  visit(entry);
  return `'use strict';\n${modules.join('')}`;
}

interface Linking {
  texts: Readonly<Record<string, string>>;
  /** Links another module first, and returns the name of its variable. */
  visit: (path: string) => string;
  isEntry: boolean;
}

/** An expression that runs the module and returns what it exports. */
function moduleText(path: string, { texts, visit, isEntry }: Linking): string {
  const source = texts[path];
  if (source === undefined) throw new Error(`There is no module ${path}`);
  const imports: string[] = [];
  const exports: string[] = [];
  const body = source
    .replace(IMPORT, (_, names: string, from: string) => {
      const value = from.startsWith('node:')
        ? `require('${from}')`
        : visit(posix.join(posix.dirname(path), from));
      imports.push(`const {${names.replaceAll(/\bas\b/g, ':').replaceAll(/ +(?= )/g, '')}} = ${value};`);
      return '';
    })
    .replace(EXPORT, (_, kind: string, name: string) => {
      exports.push(name);
      return `${kind} ${name}`;
    })
    .replaceAll('import.meta.url', OWN_URL);
  const [unknown] = LEFT_OVER.exec(body) ?? [];
  if (unknown !== undefined) throw new Error(`${path} cannot be linked: "${unknown}"`);
  const start = isEntry && TOP_LEVEL_AWAIT.test(body) ? '(async () => {' : '(() => {';
  return `${start}\n${imports.join('\n')}\n${body}\nreturn { ${exports.join(', ')} };\n})()`;
}
