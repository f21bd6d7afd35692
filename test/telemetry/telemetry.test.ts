/**
 * What an OpenTelemetry SDK receives about calls; without an SDK, nothing is done.
 */
import { context, metrics, propagation, trace, type Context, type ContextManager } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createRuntime, parsePolicy } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill, type SkillText } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
const add = writeSkill(folder, {
  source: 'def execute(params):\n    print("secret words")\n    return params["a"] + 1\n',
});
const nosy = writeSkill(folder, { source: 'def execute(params):\n    return open("/etc/passwd").read()\n' });
/** Causes more denials than a list holds; they are refused by name, so nothing is sent. */
const FLOOD = 100;
const flood = writeSkill(folder, {
  source: `
    import urllib.request
    def execute(params):
        for number in range(${FLOOD}):
            try:
                urllib.request.urlopen(f"http://denied.test/{number}")
            except OSError:
                pass
  `,
  manifest: { capabilities: { network: [{ host: 'granted.test', port: 80, scheme: 'http' }] } },
});
afterAll(close);

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

/** The minimum of an application: a context manager for promises, and the W3C headers. */
class Contexts {
  readonly #store = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#store.getStore() ?? ROOT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    work: F,
    ...[self, ...args]: [ThisParameterType<F>?, ...A]
  ): ReturnType<F> {
    return this.#store.run(active, () => work.call(self, ...(args as unknown as A)));
  }
  bind<T>(_active: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}
const ROOT = context.active();

function registerTracing(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new Contexts() as unknown as ContextManager);
  propagation.setGlobalPropagator({
    inject: (from, carrier, setter) => {
      const { traceId = '', spanId = '' } = trace.getSpanContext(from) ?? {};
      setter.set(carrier, 'traceparent', `00-${traceId}-${spanId}-01`);
      setter.set(carrier, 'baggage', 'user=somebody');
    },
    extract: (into, carrier, getter) => {
      const [, traceId = '', spanId = ''] = String(getter.get(carrier, 'traceparent')).split('-');
      return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
    fields: () => ['traceparent'],
  });
  return exporter;
}

afterEach(() => {
  trace.disable();
  metrics.disable();
  context.disable();
  propagation.disable();
});

describe('a span', () => {
  test('is an execute_tool with what ran, where and for whom, and without content', async () => {
    const exporter = registerTracing();
    const outcome = await runtime.execute(add, { a: 41_414_140 }, { caller: 'agent 7' });
    const [span] = exporter.getFinishedSpans();
    expect(span?.name).toBe(`execute_tool ${outcome.skill.name}`);
    expect(span?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': outcome.skill.name,
      'gen_ai.tool.call.id': outcome.call_id,
      'skillcell.caller': 'agent 7',
      'skillcell.mode': 'subprocess',
      'skillcell.wall': 'jail',
    });
    expect(JSON.stringify([span?.attributes, span?.events])).not.toMatch(/secret words|4141414[01]/);
    expect(span?.instrumentationScope.name).toBe('skillcell');
  });

  test('of a failed call has its code and an event for every denial', async () => {
    const exporter = registerTracing();
    await runtime.execute(nosy, {}, { reject: false });
    const [span] = exporter.getFinishedSpans();
    expect(span?.attributes['error.type']).toBe('capability_denied');
    expect(span?.status).toMatchObject({ code: 2, message: 'capability_denied' });
    expect(span?.events).toMatchObject([
      {
        name: 'skillcell.denied',
        attributes: { 'skillcell.capability': 'filesystem', 'skillcell.asked': 'read /etc/passwd' },
      },
    ]);
  });

  test('names the limit that ended the call', async () => {
    const exporter = registerTracing();
    const slow = writeSkill(folder, { source: 'import time\ndef execute(params):\n    time.sleep(20)\n' });
    await runtime.execute(slow, {}, { reject: false, timeout: 300 });
    expect(exporter.getFinishedSpans()[0]?.attributes['error.type']).toBe('resource_exceeded:timeout');
  });

  test('belongs to the trace of the caller or to the active one', async () => {
    const exporter = registerTracing();
    await runtime.execute(add, { a: 1 }, { trace: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` } });
    await trace.getTracer('app').startActiveSpan('agent', async (agent) => {
      await runtime.execute(add, { a: 1 });
      agent.end();
    });
    const [given, active, agent] = exporter.getFinishedSpans();
    expect(given?.spanContext().traceId).toBe(TRACE_ID);
    expect(given?.parentSpanContext?.spanId).toBe(PARENT_ID);
    expect(active?.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId);
  });
});

describe('the requests of a skill', () => {
  const inPython =
    'import urllib.request\ndef execute(params):\n    return urllib.request.urlopen(params["url"]).read().decode()\n';
  const inScript = 'export async function execute({ url }) {\n  return (await fetch(url)).text();\n}\n';
  const server = createServer((request, response) => response.end(String(request.headers['traceparent'])));
  afterAll(() => server.close());

  async function seenBy(
    keys: string,
    text: SkillText,
  ): Promise<{ seen: unknown; spanId: string | undefined }> {
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const policy = parsePolicy(`network: { allow_private: ["127.0.0.1"]${keys} }`, { file: 'policy' });
    await using other = createRuntime({
      home: join(folder, 'home'),
      cwd: folder,
      policy,
      pool: { size: 0 },
      audit: false,
    });
    const exporter = registerTracing();
    const network = [{ host: '127.0.0.1', port, scheme: 'http' }];
    const skill = writeSkill(folder, { ...text, manifest: { ...text.manifest, capabilities: { network } } });
    const outcome = await other.execute(skill, { url: `http://127.0.0.1:${port}/` });
    return { seen: outcome.result, spanId: exporter.getFinishedSpans()[0]?.spanContext().spanId };
  }

  test.each([
    ['a process', { source: inPython, manifest: { execution: ['subprocess'] } }],
    ['an instance', { files: { 'skill.js': inScript }, manifest: { execution: ['wasm'] } }],
  ])('in %s carry the trace only if the operator allows it', async (_where, text) => {
    expect((await seenBy('', text)).seen).toBe('undefined');
    trace.disable();
    context.disable();
    propagation.disable();
    const { seen, spanId } = await seenBy(', trace_context: true', text);
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(seen).toMatch(new RegExp(`^00-[0-9a-f]{32}-${spanId}-01$`));
  });
});

test('metrics count calls by skill and outcome, and all denied acts, listed or not', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const { skill } = await runtime.execute(add, { a: 1 });
  await runtime.execute(nosy, {}, { reject: false });
  await runtime.execute('no/such_skill', {}, { reject: false });
  const { capabilities } = await runtime.execute(flood, {});
  expect(capabilities.cut?.denied).toBe(FLOOD - capabilities.denied.length);
  await provider.forceFlush();
  const found = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [];
  const points = (name: string): { attributes: object; value: unknown }[] =>
    found.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
  expect(points('skillcell.call.duration').map(({ attributes }) => attributes)).toMatchObject([
    { 'gen_ai.tool.name': skill.name, 'skillcell.mode': 'subprocess' },
    { 'error.type': 'capability_denied' },
    { 'gen_ai.tool.name': '_OTHER', 'error.type': 'skill_unavailable' },
    {},
  ]);
  expect(points('skillcell.call.duration')[0]?.value).toMatchObject({ count: 1 });
  expect(points('skillcell.call.running')).toMatchObject([{ value: 0 }]);
  expect(points('skillcell.call.denied')).toMatchObject([{ value: 1 }, { value: FLOOD }]);
  await provider.shutdown();
});

test('without an SDK a call runs without any telemetry around it', async () => {
  const { Telemetry } = await import('../../src/telemetry/telemetry.ts');
  const promise = Promise.resolve({ outcome: await runtime.execute(add, { a: 1 }) });
  const call = { id: '1', ref: 'x/y', caller: 'test', startedAt: new Date(), execution: undefined };
  expect(new Telemetry().around(call, { traceparent: 'junk' }, () => promise)).toBe(promise);
});
