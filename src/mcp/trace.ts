/**
 * The OpenTelemetry trace that a client's request belongs to.
 *
 * @module
 */
import { TRACEPARENT_META_KEY, TRACESTATE_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import type { ExecuteOptions } from '../inside.ts';

/** Format of W3C Trace Context. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAX_TRACESTATE = 512;

/** Empty if the request has no trace, or an invalid one. */
export function traceOf({ mcpReq }: ServerContext): Pick<ExecuteOptions, 'trace'> {
  const { _meta: meta = {} } = mcpReq;
  const traceparent = meta[TRACEPARENT_META_KEY];
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return {};
  const tracestate = meta[TRACESTATE_META_KEY];
  const isUsable = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE;
  return { trace: { traceparent, ...(isUsable ? { tracestate } : {}) } };
}
