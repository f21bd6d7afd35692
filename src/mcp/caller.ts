/**
 * The caller in the receipt. Clients choose their own name, so a policy rule may distinguish MCP clients by it but must
 * not trust it.
 *
 * @module
 */
import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from '@modelcontextprotocol/server';

const MAX_NAME = 64;

export function callerOf({ mcpReq }: ServerContext, { server }: McpServer): string {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const name = nameIn(envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion());
  return name === '' ? 'mcp' : `mcp:${name}`;
}

function nameIn(client: unknown): string {
  if (typeof client !== 'object' || client === null || !('name' in client)) return '';
  const { name } = client;
  // Without characters that could imitate another caller or control a terminal.
  return typeof name === 'string' ? name.replaceAll(/[^\w .@/-]/g, '_').slice(0, MAX_NAME) : '';
}
