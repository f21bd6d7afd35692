/**
 * An executor for `@cloudflare/codemode`.
 *
 * @module
 */
import type { Runtime } from '../../runtime.ts';
import { runToolProgram, type CodeModeOptions, type HostTool } from './tool-program.ts';

/** The tools of one namespace, as `@cloudflare/codemode` resolves them. */
export interface CodeModeProvider {
  name: string;
  fns: Record<string, (...args: unknown[]) => Promise<unknown>>;
  /** Source that runs in the cell before the program. */
  prelude?: string;
}

/** How a program ended; the executor itself never throws. */
export interface CodeModeResult {
  result: unknown;
  error?: string;
  logs?: string[];
}

/** `Executor` of `@cloudflare/codemode`. */
export interface CodeModeExecutor {
  execute(
    code: string,
    providersOrFns: CodeModeProvider[] | CodeModeProvider['fns'],
    options?: { connectors?: readonly unknown[] },
  ): Promise<CodeModeResult>;
}

const IDENTIFIER = /^(?!(?:call|ended|program|names|functions|skills|input)$)[A-Za-z_$][\w$]*$/;
const DEFAULT_TIMEOUT = '60s';

/**
 * Runs the programs of `@cloudflare/codemode` in cells.
 *
 * @example
 * ```ts no-run
 * import { createBrowserCodeTool } from '@cloudflare/codemode/browser';
 * import { createRuntime } from 'skillcell';
 * import { cloudflareExecutor } from 'skillcell/codemode';
 *
 * await using runtime = createRuntime();
 * const tool = createBrowserCodeTool({ tools: {}, executor: cloudflareExecutor(runtime) });
 * ```
 */
export function cloudflareExecutor(runtime: Runtime, options: CodeModeOptions = {}): CodeModeExecutor {
  return {
    execute: async (code, providersOrFns, { connectors = [] } = {}) => {
      const providers = Array.isArray(providersOrFns)
        ? providersOrFns
        : [{ name: 'codemode', fns: providersOrFns }];
      const problem = problemOf(providers, connectors);
      if (problem !== undefined) return { result: undefined, error: problem };
      try {
        const program = { prelude: preludeOf(providers), body: bodyOf(code), tools: toolsOf(providers) };
        const limits = { timeout: DEFAULT_TIMEOUT, ...options.limits };
        const { result, error, logs } = await runToolProgram(runtime, program, { ...options, limits });
        return { result, logs, ...(error ? { error: error.message } : {}) };
      } catch (error) {
        return { result: undefined, error: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function problemOf(
  providers: readonly CodeModeProvider[],
  connectors: readonly unknown[],
): string | undefined {
  if (connectors.length > 0) return 'Connectors are bindings of Workers, which Skillcell does not have';
  const names = providers.map(({ name }) => name);
  const invalid = names.find((name) => !IDENTIFIER.test(name));
  if (invalid !== undefined) return `Provider name ${JSON.stringify(invalid)} is not valid`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `Duplicate provider name "${twice}"`;
}

/** Tool names of two namespaces may be equal. */
function toolsOf(providers: readonly CodeModeProvider[]): Map<string, HostTool> {
  const entries = providers.flatMap(({ name, fns }) =>
    Object.entries(fns).map(([tool, run]): [string, HostTool] => [`${name}.${tool}`, (args) => run(...args)]),
  );
  return new Map(entries);
}

function preludeOf(providers: readonly CodeModeProvider[]): string {
  const spaces = providers.map(
    ({ name }) =>
      `const ${name} = new Proxy({}, { get: (own, tool) => Object.hasOwn(own, tool) ? own[tool] : ` +
      `typeof tool === 'string' && tool !== 'then' ? (...args) => call('${name}.' + tool, args) : undefined });`,
  );
  const levels = ['warn', 'error'].map(
    (level) => `console.${level} = (...args) => console.log('[${level}]', ...args);`,
  );
  return [...levels, ...spaces, ...providers.map(({ prelude = '' }) => prelude)].join(' ');
}

/** The code is a function, as the package normalizes it, or the body of one. */
function bodyOf(code: string): string {
  return /^\s*(?:async\b|function\b|\()/.test(code) ? `return (${code.replace(/;\s*$/, '')})();` : code;
}
