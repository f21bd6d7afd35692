/**
 * The OpenTelemetry API, loaded once an application registers an SDK. It consists of 45 files, and does nothing without one.
 *
 * @module
 */
import { createRequire } from 'node:module';
import type * as api from '@opentelemetry/api';

export type TelemetryApi = typeof api;

/** Where all copies of the API in a process keep what was registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
const load = createRequire(import.meta.url);

/** Undefined while nothing was ever registered. */
export function registeredApi(): TelemetryApi | undefined {
  return REGISTERED in globalThis ? (load('@opentelemetry/api') as TelemetryApi) : undefined;
}
