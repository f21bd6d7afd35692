/**
 * Who calls, for the receipt. A client says its own name, so a rule of the policy can tell `mcp` apart by it, but must
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
  // Nothing that could pass for another caller, or steer a terminal.
  return typeof name === 'string' ? name.replaceAll(/[^\w .@/-]/g, '_').slice(0, MAX_NAME) : '';
}
