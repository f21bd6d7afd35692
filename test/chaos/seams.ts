/**
 * Faults of the host that a suite can cause in a service. They are preloaded and occur in the middle of a call, while reading
 * from a cell, or outside any call.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/inside.ts';

/** Words in a skill's output that trigger a fault. */
const SAYS = { frame: 'break-the-frame', log: 'break-the-log' };

/**
 * Preloaded into the service: a telemetry SDK that fails later, as part of the call; streams that fail on a certain word; and
 * a fault outside any call.
 */
const SEAMS = `
import { EventEmitter } from 'node:events';
import { trace } from '${join(packageRoot(), 'node_modules/@opentelemetry/api/build/src/index.js')}';

const later = { timer: (act) => setTimeout(act, 50), immediate: (act) => setImmediate(act), tick: (act) => process.nextTick(act) };
const startSpan = (name) => {
  const way = /breaks-by-(\\w+)/.exec(name)?.[1];
  if (way === 'rejection') Promise.reject(new Error('seam: rejection'));
  else later[way]?.(() => { throw new Error('seam: ' + way); });
  return trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 });
};
const tracer = { startSpan };
trace.setGlobalTracerProvider({ getTracer: () => tracer });

const emit = EventEmitter.prototype.emit;
EventEmitter.prototype.emit = function (name, ...args) {
  const text = name === 'data' && Buffer.isBuffer(args[0]) ? args[0].toString('latin1') : '';
  // Only output of cells: requests to the service do not contain the word.
  if (text.includes('${SAYS.frame}') || text.includes('${SAYS.log}')) throw new Error('seam: stream');
  return emit.call(this, name, ...args);
};
process.on('SIGUSR2', () => setTimeout(() => { throw new Error('seam: nobody'); }, 1));
`;

/** The kinds of faults; the skill `breaks-by-WAY` causes each. */
export const WAYS: readonly string[] = ['timer', 'immediate', 'tick', 'rejection'];

/** A skill that sleeps, and prints the words on request. */
export const SOURCE = `
    import sys, time
    def execute(params):
        if params.get("prints"):
            print("-".join(["break", "the", "log"]), file=sys.stderr, flush=True)
        time.sleep(params.get("seconds", 0))
        return "-".join(["break", "the", "frame"]) if params.get("returns") else "fine"
`;

/** The variables that load the seams into a process. */
export function seamsIn(folder: string): Record<string, string> {
  const file = join(folder, 'seams.mjs');
  writeFileSync(file, SEAMS);
  return { NODE_OPTIONS: `--import=${file}` };
}
