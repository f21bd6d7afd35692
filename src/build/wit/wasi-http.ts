/**
 * The part of `wasi:http` 0.2 that a client needs. The order and types of cases determine the memory layout of a value, so
 * variants are complete even if no skill uses every case.
 *
 * @module
 */
import { borrow, list, option, own, result, type FunctionType, type Interface, type Type } from './types.ts';
import { IO_POLL, IO_STREAMS } from './wasi-io.ts';

const METHOD: Record<string, Type | undefined> = {
  get: undefined,
  head: undefined,
  post: undefined,
  put: undefined,
  delete: undefined,
  connect: undefined,
  options: undefined,
  trace: undefined,
  patch: undefined,
  other: 'string',
};

const ERROR_CODE: Record<string, Type | undefined> = {
  'DNS-timeout': undefined,
  'DNS-error': 'DNS-error-payload',
  'destination-not-found': undefined,
  'destination-unavailable': undefined,
  'destination-IP-prohibited': undefined,
  'destination-IP-unroutable': undefined,
  'connection-refused': undefined,
  'connection-terminated': undefined,
  'connection-timeout': undefined,
  'connection-read-timeout': undefined,
  'connection-write-timeout': undefined,
  'connection-limit-reached': undefined,
  'TLS-protocol-error': undefined,
  'TLS-certificate-error': undefined,
  'TLS-alert-received': 'TLS-alert-received-payload',
  'HTTP-request-denied': undefined,
  'HTTP-request-length-required': undefined,
  'HTTP-request-body-size': option('u64'),
  'HTTP-request-method-invalid': undefined,
  'HTTP-request-URI-invalid': undefined,
  'HTTP-request-URI-too-long': undefined,
  'HTTP-request-header-section-size': option('u32'),
  'HTTP-request-header-size': option('field-size-payload'),
  'HTTP-request-trailer-section-size': option('u32'),
  'HTTP-request-trailer-size': 'field-size-payload',
  'HTTP-response-incomplete': undefined,
  'HTTP-response-header-section-size': option('u32'),
  'HTTP-response-header-size': 'field-size-payload',
  'HTTP-response-body-size': option('u64'),
  'HTTP-response-trailer-section-size': option('u32'),
  'HTTP-response-trailer-size': 'field-size-payload',
  'HTTP-response-transfer-coding': option('string'),
  'HTTP-response-content-coding': option('string'),
  'HTTP-response-timeout': undefined,
  'HTTP-upgrade-failed': undefined,
  'HTTP-protocol-error': undefined,
  'loop-detected': undefined,
  'configuration-error': undefined,
  'internal-error': option('string'),
};

/** A method without parameters. */
function method(resource: string, returns: Type): FunctionType {
  return { params: { self: borrow(resource) }, result: returns };
}

/** A setter of `outgoing-request`. */
function setter(property: string, type: Type): FunctionType {
  return { params: { self: borrow('outgoing-request'), [property]: type }, result: result() };
}

/** A setter of `request-options`; a duration is in nanoseconds. */
function timeout(): FunctionType {
  return { params: { self: borrow('request-options'), duration: option('u64') }, result: result() };
}

export const HTTP_TYPES: Interface = {
  id: 'wasi:http/types@0.2.0',
  uses: { pollable: IO_POLL, 'input-stream': IO_STREAMS, 'output-stream': IO_STREAMS },
  types: {
    fields: 'resource',
    'outgoing-request': 'resource',
    'outgoing-body': 'resource',
    'request-options': 'resource',
    'future-incoming-response': 'resource',
    'incoming-response': 'resource',
    'incoming-body': 'resource',
    'header-error': {
      variant: { 'invalid-syntax': undefined, forbidden: undefined, immutable: undefined },
    },
    method: { variant: METHOD },
    scheme: { variant: { HTTP: undefined, HTTPS: undefined, other: 'string' } },
    'DNS-error-payload': { record: { rcode: option('string'), 'info-code': option('u16') } },
    'TLS-alert-received-payload': {
      record: { 'alert-id': option('u8'), 'alert-message': option('string') },
    },
    'field-size-payload': { record: { 'field-name': option('string'), 'field-size': option('u32') } },
    'error-code': { variant: ERROR_CODE },
  },
  functions: {
    '[constructor]fields': { params: {}, result: own('fields') },
    '[method]fields.get': { params: { self: borrow('fields'), name: 'string' }, result: list(list('u8')) },
    '[method]fields.append': {
      params: { self: borrow('fields'), name: 'string', value: list('u8') },
      result: result(undefined, 'header-error'),
    },
    '[constructor]outgoing-request': {
      params: { headers: own('fields') },
      result: own('outgoing-request'),
    },
    '[method]outgoing-request.set-method': setter('method', 'method'),
    '[method]outgoing-request.set-scheme': setter('scheme', option('scheme')),
    '[method]outgoing-request.set-authority': setter('authority', option('string')),
    '[method]outgoing-request.set-path-with-query': setter('path-with-query', option('string')),
    '[method]outgoing-request.body': method('outgoing-request', result(own('outgoing-body'))),
    '[method]outgoing-body.write': method('outgoing-body', result(own('output-stream'))),
    '[static]outgoing-body.finish': {
      params: { this: own('outgoing-body'), trailers: option(own('fields')) },
      result: result(undefined, 'error-code'),
    },
    '[constructor]request-options': { params: {}, result: own('request-options') },
    '[method]request-options.set-connect-timeout': timeout(),
    '[method]request-options.set-first-byte-timeout': timeout(),
    '[method]request-options.set-between-bytes-timeout': timeout(),
    '[method]future-incoming-response.subscribe': method('future-incoming-response', own('pollable')),
    '[method]future-incoming-response.get': method(
      'future-incoming-response',
      option(result(result(own('incoming-response'), 'error-code'))),
    ),
    '[method]incoming-response.status': method('incoming-response', 'u16'),
    '[method]incoming-response.headers': method('incoming-response', own('fields')),
    '[method]incoming-response.consume': method('incoming-response', result(own('incoming-body'))),
    '[method]incoming-body.stream': method('incoming-body', result(own('input-stream'))),
  },
};

export const HTTP_OUTGOING_HANDLER: Interface = {
  id: 'wasi:http/outgoing-handler@0.2.0',
  uses: {
    'outgoing-request': HTTP_TYPES,
    'request-options': HTTP_TYPES,
    'future-incoming-response': HTTP_TYPES,
    'error-code': HTTP_TYPES,
  },
  types: {},
  functions: {
    handle: {
      params: { request: own('outgoing-request'), options: option(own('request-options')) },
      result: result(own('future-incoming-response'), 'error-code'),
    },
  },
};
