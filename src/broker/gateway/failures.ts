/**
 * Maps failures between the gateway and a server to the few codes that a guest learns.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';

const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connrefused',
  ECONNRESET: 'connreset',
  EPIPE: 'pipe',
  EHOSTUNREACH: 'hostunreach',
  ENETUNREACH: 'netunreach',
  ETIMEDOUT: 'timedout',
};

export function toRefusal(error: unknown): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  // Several addresses were tried; report the first failure.
  if (error instanceof AggregateError && error.errors.length > 0) return toRefusal(error.errors[0]);
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (isAboutCertificate(code)) return new BrokerRefusal('cert', 'the certificate is not valid');
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return new BrokerRefusal('tls', 'TLS failed');
  if (code.startsWith('HPE_')) return new BrokerRefusal('proto', 'the server does not speak HTTP');
  return new BrokerRefusal(CODES[code] ?? 'io', 'the request failed');
}

function isAboutCertificate(code: string): boolean {
  return code.includes('CERT') || code.startsWith('ERR_TLS') || code.startsWith('UNABLE_TO_');
}
