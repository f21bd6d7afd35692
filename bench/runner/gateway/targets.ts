/**
 * Targets for the gateway.
 *
 * @module
 */
import type { Row } from '../statistics.ts';
import { atMost, type Target } from '../targets.ts';

export const DIRECT_PYTHON = 'python3, direct';
export const NATIVE = 'python in a jail';
export const PYTHON_WASM = 'python-wasm in a jail';
export const DIRECT_NODE = 'node, direct';
export const COMPONENT = 'component in a jail, the whole call';

const ADDED_MS = 2;
const REQUESTS_PER_SECOND = 500;

export interface Load {
  workers: number;
  requestsPerSecond: number;
  served: number;
  failed: number;
}

/** The baseline of each row. */
export const DIRECT_OF: Readonly<Record<string, string>> = {
  [NATIVE]: DIRECT_PYTHON,
  [PYTHON_WASM]: DIRECT_PYTHON,
  [COMPONENT]: DIRECT_NODE,
};

/** Difference of the medians; NaN for a row without a baseline. */
export function addedMs(rows: readonly Row[], name: string): number {
  const median = (wanted: string | undefined): number =>
    rows.find((row) => row.name === wanted)?.median ?? NaN;
  return median(name) - median(DIRECT_OF[name]);
}

export function checkGatewayTargets(rows: readonly Row[], { requestsPerSecond, failed }: Load): Target[] {
  return [
    ...Object.keys(DIRECT_OF).map((name) =>
      atMost(
        `a request from ${name} at most ${ADDED_MS} ms over a direct one`,
        addedMs(rows, name),
        ADDED_MS,
      ),
    ),
    {
      aim: `${REQUESTS_PER_SECOND} requests/s through one gateway without an error`,
      met: requestsPerSecond >= REQUESTS_PER_SECOND && failed === 0,
      found: `${requestsPerSecond.toFixed(0)} requests/s, ${failed} failed`,
    },
  ];
}
