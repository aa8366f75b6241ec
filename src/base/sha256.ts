import { sha256 as digestOf } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/**
 * The SHA-256 of a text, as hex. Every run needs it for folder names; loading node:crypto for it
 * would add 3 ms to a start of 22.
 */
export const sha256 = (text: string): string => bytesToHex(digestOf(Buffer.from(text)));
