/**
 * `skillcell/signatures`: signs the lock of a skill.
 *
 * @module
 */
export {
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  parseSignatures,
  signLock,
  signedBytes,
} from '../trust/signature.ts';
export type { Signature } from '../trust/signature.ts';
