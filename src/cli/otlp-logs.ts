/**
 * Receipts as OpenTelemetry logs, in the JSON encoding of OTLP.
 *
 * @module
 */
import { type StoredReceipt, packageVersion } from '../inside.ts';

const NANOS_PER_MS = 1_000_000n;
/** Severity numbers of OpenTelemetry. */
const INFO = 9;
const WARN = 13;

type Value = { stringValue: string } | { intValue: string } | { doubleValue: number };

/** The body of one request to `/v1/logs`. */
export function otlpLogs(receipts: readonly StoredReceipt[]): unknown {
  return {
    resourceLogs: [
      {
        resource: { attributes: attributes({ 'service.name': 'skillcell' }) },
        scopeLogs: [
          {
            scope: { name: 'skillcell.audit', version: packageVersion() },
            logRecords: receipts.map(logRecord),
          },
        ],
      },
    ],
  };
}

function logRecord({ seq, hash, receipt }: StoredReceipt): unknown {
  const { call_id, caller, skill, code, limit, execution, usage, denied_count } = receipt;
  const time = nanos(receipt.started_at);
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: code === 'ok' || code === 'cancelled' ? INFO : WARN,
    severityText: code === 'ok' || code === 'cancelled' ? 'INFO' : 'WARN',
    body: { stringValue: JSON.stringify(receipt) },
    attributes: attributes({
      'skillcell.call_id': call_id,
      'skillcell.caller': caller,
      'skillcell.skill': skill.name,
      'skillcell.skill_digest': skill.digest,
      'skillcell.code': code,
      'skillcell.limit': limit,
      'skillcell.mode': execution?.mode,
      'skillcell.wall_ms': usage.wall_ms,
      'skillcell.denied': BigInt(denied_count),
      'skillcell.seq': BigInt(seq),
      'skillcell.hash': hash,
    }),
  };
}

function attributes(values: Record<string, string | number | bigint | undefined>): unknown[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  );
}

/** 64-bit numbers are strings in the JSON of protobuf. */
function valueOf(value: string | number | bigint): Value {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'bigint' ? { intValue: String(value) } : { doubleValue: value };
}

function nanos(time: string): string {
  return String(BigInt(Date.parse(time)) * NANOS_PER_MS);
}
