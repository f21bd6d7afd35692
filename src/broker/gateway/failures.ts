/**
 * What went wrong between the gateway and a server, in the few words that a guest is told.
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

export function asRefusal(error: unknown): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  // Several addresses were tried: the first failure is as good as any.
  if (error instanceof AggregateError && error.errors.length > 0) return asRefusal(error.errors[0]);
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (isAboutCertificate(code)) return new BrokerRefusal('cert', 'no valid certificate');
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return new BrokerRefusal('tls', 'TLS failed');
  if (code.startsWith('HPE_')) return new BrokerRefusal('proto', 'the server does not speak HTTP');
  return new BrokerRefusal(CODES[code] ?? 'io', 'the request failed');
}

function isAboutCertificate(code: string): boolean {
  return code.includes('CERT') || code.startsWith('ERR_TLS') || code.startsWith('UNABLE_TO_');
}
