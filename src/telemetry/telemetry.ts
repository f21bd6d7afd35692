/**
 * Spans and metrics of calls through the OpenTelemetry API; does nothing unless the application registered an SDK. Names
 * follow the conventions for generative AI: a call is an `execute_tool`. Parameters, results and logs are never exported.
 *
 * @module
 */
import type {
  Context,
  Counter,
  Histogram,
  MeterProvider,
  Span,
  SpanOptions,
  Tracer,
  TracerProvider,
  UpDownCounter,
} from '@opentelemetry/api';
import { deniedCount, type Outcome } from '../outcome.ts';
import { packageVersion } from '../package-root.ts';
import type { RunningCall } from '../calls/events.ts';
import { registeredApi, type TelemetryApi } from './api.ts';

/** The caller's trace, from its HTTP headers or its MCP message. */
export interface TraceContext {
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

/** The active trace as headers, without baggage; undefined when there is none. */
export function traceHeaders(): Record<string, string> | undefined {
  const api = registeredApi();
  if (!api) return undefined;
  const carrier: Record<string, string> = {};
  api.propagation.inject(api.context.active(), carrier);
  const { traceparent, tracestate } = carrier;
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

const NAME = 'skillcell';
/** Bounded, because a hostile skill can be denied a million times. */
const MAX_DENIALS = 20;

interface Instruments {
  duration: Histogram;
  running: UpDownCounter;
  denied: Counter;
}

export class Telemetry {
  #meterProvider: MeterProvider | undefined;
  #instruments: Instruments | undefined;
  #version: string | undefined;

  /** Runs the work of a call inside its own span. */
  around<T extends { outcome: Outcome }>(
    call: RunningCall,
    parent: TraceContext | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const api = registeredApi();
    if (!api) return work();
    const tracer = this.#tracer(api);
    const instruments = this.#activeInstruments(api);
    if (!tracer && !instruments) return work();
    return this.#observe({ api, call, parent, tracer, instruments }, work);
  }

  async #observe<T extends { outcome: Outcome }>(
    { api, call, parent, tracer, instruments }: Observation,
    work: () => Promise<T>,
  ): Promise<T> {
    const { context, propagation, trace } = api;
    const around = quietly(() => parent && propagation.extract(context.active(), parent)) ?? context.active();
    const span = quietly(() => tracer?.startSpan(`execute_tool ${call.ref}`, spanOptions(call, api), around));
    quietly(() => instruments?.running.add(1));
    try {
      const result = await runInside(api, span ? trace.setSpan(around, span) : around, work);
      quietly(() => span && describe(span, result.outcome, api));
      quietly(() => instruments && measure(instruments, result.outcome, call));
      return result;
    } finally {
      quietly(() => instruments?.running.add(-1));
      quietly(() => span?.end());
    }
  }

  /** Undefined while no SDK is registered: this check is cheaper than a span that is dropped. */
  #tracer({ trace }: TelemetryApi): Tracer | undefined {
    const provider: TracerProvider & { getDelegateTracer?: (name: string) => Tracer | undefined } =
      trace.getTracerProvider();
    if (provider.getDelegateTracer && !provider.getDelegateTracer(NAME)) return undefined;
    this.#version ??= packageVersion();
    return provider.getTracer(NAME, this.#version);
  }

  /** Recreated when the application registers another provider; undefined while there is none. */
  #activeInstruments(api: TelemetryApi): Instruments | undefined {
    const provider = api.metrics.getMeterProvider();
    if (provider !== this.#meterProvider) {
      this.#meterProvider = provider;
      this.#instruments = instrumentsOf(provider, api);
    }
    return this.#instruments;
  }
}

/** An exception in the application's SDK must not affect the call. */
function quietly<T>(emit: () => T): T | undefined {
  try {
    return emit();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), 'SkillcellTelemetryWarning');
    return undefined;
  }
}

/** Runs the work exactly once, even if the context manager fails. */
function runInside<T>({ context }: TelemetryApi, around: Context, work: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined;
  const started = quietly(() => context.with(around, () => (running = work())));
  return running ?? started ?? work();
}

interface Observation {
  api: TelemetryApi;
  call: RunningCall;
  parent: TraceContext | undefined;
  tracer: Tracer | undefined;
  instruments: Instruments | undefined;
}

function instrumentsOf(provider: MeterProvider, { createNoopMeter }: TelemetryApi): Instruments | undefined {
  if (provider.getMeter(NAME) === createNoopMeter()) return undefined;
  const meter = provider.getMeter(NAME, packageVersion());
  return {
    duration: meter.createHistogram('skillcell.call.duration', {
      unit: 's',
      description: 'Duration of calls, from acceptance to outcome.',
      advice: { explicitBucketBoundaries: BUCKETS },
    }),
    running: meter.createUpDownCounter('skillcell.call.running', {
      unit: '{call}',
      description: 'Calls in progress.',
    }),
    denied: meter.createCounter('skillcell.call.denied', {
      unit: '{act}',
      description: 'Denied acts of skills.',
    }),
  };
}

/** From a warm instance to the longest common timeout. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

function spanOptions({ id, ref, caller }: RunningCall, { SpanKind }: TelemetryApi): SpanOptions {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': ref,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': id,
    'skillcell.caller': caller,
  };
  return { kind: SpanKind.INTERNAL, attributes };
}

/** Adds what is known at the end. The span gets the skill's own name, which may differ from the caller's reference. */
function describe(span: Span, outcome: Outcome, { SpanStatusCode }: TelemetryApi): void {
  const { skill, execution, usage, capabilities } = outcome;
  span.updateName(`execute_tool ${skill.name}`);
  span.setAttributes({
    'gen_ai.tool.name': skill.name,
    'skillcell.skill.version': skill.version,
    'skillcell.skill.digest': skill.digest,
    'skillcell.usage.cpu_ms': usage.cpu_ms,
    'skillcell.usage.memory_peak_bytes': usage.memory_peak_bytes,
    'skillcell.denied': deniedCount(capabilities),
    ...(execution
      ? {
          'skillcell.mode': execution.mode,
          'skillcell.wall': execution.wall,
          'skillcell.engine': execution.engine,
          'skillcell.start': execution.start,
        }
      : {}),
  });
  for (const { capability, asked } of capabilities.denied.slice(0, MAX_DENIALS))
    span.addEvent('skillcell.denied', { 'skillcell.capability': capability, 'skillcell.asked': asked });
  if (outcome.ok) return;
  // The message may quote the skill or its parameters, so only the type is exported.
  span.setAttribute('error.type', errorType(outcome));
  // A cancellation is not a failure, so it must not raise an alarm.
  if (outcome.error.code === 'cancelled') return;
  span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error.code });
}

function measure(instruments: Instruments, outcome: Outcome, { startedAt }: RunningCall): void {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    // Clients can invent any number of names of skills that do not exist.
    'gen_ai.tool.name': outcome.skill.digest === '' ? '_OTHER' : outcome.skill.name,
    ...(outcome.execution ? { 'skillcell.mode': outcome.execution.mode } : {}),
    ...(outcome.ok ? {} : { 'error.type': errorType(outcome) }),
  };
  instruments.duration.record((Date.now() - startedAt.getTime()) / 1000, attributes);
  const denied = deniedCount(outcome.capabilities);
  if (denied > 0) instruments.denied.add(denied, attributes);
}

/** Names the limit too, e.g. `resource_exceeded:timeout`, because it is what people ask first. */
function errorType({ error: { code, detail } }: Outcome & { ok: false }): string {
  return code === 'resource_exceeded' ? `${code}:${String(detail['limit'])}` : code;
}
