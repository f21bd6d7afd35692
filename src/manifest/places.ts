/**
 * Rules for what a skill may reach: network hosts and paths in the file system.
 * Each rule returns the problem, or undefined.
 *
 * @module
 */
import { isIPv4, isIPv6 } from 'node:net';
import { quote } from './quote.ts';

export const WORKSPACE = '${workspace}';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** `api.example.com`, `*.example.com`, `192.0.2.1` or `2001:db8::1`; one spelling per host. */
export function hostProblem(host: string): string | undefined {
  if (host === '') return 'A host must not be empty';
  if (host.includes(':')) return ipv6Problem(host);
  if (isIPv4(host)) return undefined;
  const wildcard = host.startsWith('*.');
  const labels = (wildcard ? host.slice(2) : host).split('.');
  if (host.length > 253 || !labels.every((label) => LABEL.test(label))) {
    return `${quote(host)} is not a valid host name; write it in lower case, without scheme, user, port, path or final dot`;
  }
  // `127.1` or `0x7f.1` reach 127.0.0.1 in resolvers that follow inet_aton.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return `${quote(host)} is an unusual spelling of an IP address; write four decimal numbers`;
  }
  if (wildcard && labels.length < 2)
    return `${quote(host)} covers a whole top-level domain; name a domain below it`;
  return undefined;
}

function ipv6Problem(host: string): string | undefined {
  if (!isIPv6(host) || host.includes('%')) {
    return `${quote(host)} is not a host name or IP address; use the separate keys for port and scheme`;
  }
  const canonical = new URL(`http://[${host}]`).hostname.slice(1, -1);
  return canonical === host ? undefined : `${quote(host)} has a shorter spelling; write ${quote(canonical)}`;
}

/** A path of `capabilities.filesystem`: inside the bundle, absolute, or below `${workspace}`. */
export function filesystemPathProblem(path: string): string | undefined {
  if (path.startsWith(WORKSPACE)) {
    const rest = path.slice(WORKSPACE.length);
    if (rest === '') return undefined;
    return rest.startsWith('/')
      ? segmentsProblem(path, rest.slice(1))
      : `${quote(path)} must continue with "/" after ${WORKSPACE}`;
  }
  if (path === '/') return '"/" is the whole file system; name the folder that the skill needs';
  if (path.startsWith('/')) return segmentsProblem(path, path.slice(1));
  return path === '.' ? undefined : bundlePathProblem(path);
}

/** A path inside the bundle, such as `entry` or `container.dockerfile`. */
export function bundlePathProblem(path: string): string | undefined {
  if (path.startsWith('/')) return `${quote(path)} must be relative to the bundle`;
  if (path.startsWith('~'))
    return `${quote(path)} starts with "~", which is not expanded; write the path out`;
  return segmentsProblem(path, path);
}

export function isBundlePath(path: string): boolean {
  return !path.startsWith('/') && !path.startsWith(WORKSPACE);
}

function segmentsProblem(path: string, segments: string): string | undefined {
  if (path.length > 1024) return `${quote(path)} is longer than 1024 characters`;
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(path)) return `${quote(path)} contains control characters`;
  if (/[*\\]|\$\{/.test(segments)) {
    return `${quote(path)} contains "*", "\\" or a variable; name one file or folder; only ${WORKSPACE} at the start is expanded`;
  }
  const parts = segments.split('/');
  if (parts.includes('..')) return `${quote(path)} contains ".."`;
  if (parts.some((part) => part === '' || part === '.')) {
    return `${quote(path)} is not normalised; leave out "." and "//" and a final "/"`;
  }
  return undefined;
}

/** A path pattern of a network rule, e.g. `/api*`. */
export function urlPathProblem(path: string): string | undefined {
  if (!/^\/[!-~]{0,1023}$/.test(path) || /[?#\\]/.test(path)) {
    return `${quote(path)} is not a URL path; it must start with "/" and have no query, fragment, space or "\\"`;
  }
  const segments = path.split('/');
  return segments.includes('..') || segments.includes('.')
    ? `${quote(path)} contains "." or ".." segments`
    : undefined;
}
