/**
 * The trace that a client's request belongs to, for OpenTelemetry.
 *
 * @module
 */
import { TRACEPARENT_META_KEY, TRACESTATE_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import type { ExecuteOptions } from '../index.ts';

/** As W3C has it. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAX_TRACESTATE = 512;

/** Empty for a request that belongs to none, or says so in a wrong way. */
export function traceOf({ mcpReq }: ServerContext): Pick<ExecuteOptions, 'trace'> {
  const { _meta: meta = {} } = mcpReq;
  const traceparent = meta[TRACEPARENT_META_KEY];
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return {};
  const tracestate = meta[TRACESTATE_META_KEY];
  const isUsable = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE;
  return { trace: { traceparent, ...(isUsable ? { tracestate } : {}) } };
}
