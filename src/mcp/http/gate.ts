/**
 * Admits requests: checks Host and Origin against DNS rebinding, and the token if one is set.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
  type AuthInfo,
} from '@modelcontextprotocol/server';

export interface GateOptions {
  /** If absent, any client that can connect may call. */
  token?: string | undefined;
  /** Host names that clients may use, in addition to those of the loopback. */
  allowedHosts?: readonly string[];
}

/** Resolves with the identity of the client, or with the response that rejects the request. */
export type Gate = (request: Request) => Promise<{ authInfo?: AuthInfo } | Response>;

export function openGate({ token, allowedHosts = [] }: GateOptions): Gate {
  const names = [...localhostAllowedHostnames(), ...allowedHosts];
  const authenticate = token === undefined ? undefined : bearerCheck(token);
  return async (request) => {
    const refused = hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, names);
    if (refused) return refused;
    const authInfo = await authenticate?.(request);
    if (authInfo instanceof Response) return authInfo;
    return authInfo ? { authInfo } : {};
  };
}

function bearerCheck(token: string): (request: Request) => Promise<AuthInfo | Response> {
  const expected = digestOf(token);
  return requireBearerAuth({
    verifier: {
      verifyAccessToken: async (given) => {
        if (!timingSafeEqual(digestOf(given), expected)) {
          throw new OAuthError(OAuthErrorCode.InvalidToken, 'Invalid token');
        }
        // Valid as long as the server runs.
        return {
          token: given,
          clientId: `token:${digestOf(given).toString('hex')}`,
          scopes: [],
          expiresAt: Number.MAX_SAFE_INTEGER,
        };
      },
    },
  });
}

/** All digests have the same length, so the time of the comparison reveals nothing. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
