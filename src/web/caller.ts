/**
 * Reads the caller of a receipt: `http:TENANT:TOKEN`, `mcp:CLIENT`, `cli` and so on.
 *
 * @module
 */
export interface Who {
  tenant?: string;
  name: string;
  /** Begins a sentence that goes on with "called". */
  subject: string;
}

const PLAIN: Readonly<Record<string, string>> = {
  cli: 'Somebody on the command line',
  mcp: 'An MCP client',
  http: 'The HTTP service',
  test: 'The command `skillcell test`',
  agent: 'An agent framework',
  library: 'A program that uses the library',
};

export function whoIs(caller: string): Who {
  const http = /^http:([^:]*):(.*)$/s.exec(caller);
  if (http) {
    const [, tenant = '', name = ''] = http;
    return { tenant, name, subject: `The token "${name}" of the tenant "${tenant}"` };
  }
  const client = /^mcp:(.*)$/s.exec(caller)?.[1];
  if (client !== undefined) return { name: caller, subject: `The MCP client "${client}"` };
  const subject = Object.hasOwn(PLAIN, caller) ? PLAIN[caller] : undefined;
  return { name: caller, subject: subject ?? `The caller "${caller}"` };
}
