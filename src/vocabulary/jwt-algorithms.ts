/**
 * Signature algorithms of tokens that an issuer may use. Only those with a public key: with a shared secret, everyone who
 * can check a token could make one.
 *
 * @module
 */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];
