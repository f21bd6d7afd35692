/**
 * Outcomes and receipts for the tests of the audit log.
 *
 * @module
 */
import { makeReceipt, type Receipt, type ReceiptContext } from '../../src/audit/receipt.ts';
import { NO_USAGE, type Failure, type Success } from '../../src/outcome.ts';

export function exampleSuccess(over: Partial<Success> = {}): Success {
  return {
    ok: true,
    result: { text: 'short' },
    call_id: '01J00000000000000000000000',
    skill: { name: 'optimization/prompt_rewriter', version: '1.0.0', digest: 'sha256:aa' },
    execution: { mode: 'subprocess', wall: 'jail', engine: 'python', fresh: true, start: 'cold' },
    usage: { ...NO_USAGE, wall_ms: 12 },
    capabilities: { used: [], denied: [] },
    logs: '',
    warnings: [],
    ...over,
  };
}

export function exampleFailure(error: Failure['error'], over: Partial<Failure> = {}): Failure {
  const { call_id, skill, usage, capabilities, logs, warnings } = exampleSuccess();
  return { ok: false, error, call_id, skill, usage, capabilities, logs, warnings, ...over };
}

export const EXAMPLE_CONTEXT: ReceiptContext = {
  paramsDigest: 'sha256:01',
  grantDigest: 'sha256:02',
  origin: 'project',
  lock: 'locked',
  caller: 'cli',
  startedAt: new Date(0),
};

export function exampleReceipt(over: Partial<Receipt> = {}): Receipt {
  return { ...makeReceipt(exampleSuccess(), EXAMPLE_CONTEXT), ...over };
}
