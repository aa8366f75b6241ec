import { expect, it } from 'vitest';
import { checkHintOf, hintOf } from '../../src/base/failure.ts';
import { errorCodes } from '../../src/contract/errors.ts';
import { readServiceError } from '../../src/core/client/service-errors.ts';
import { broken, redirected, tooLarge, unreachable } from '../../src/core/http/network-failures.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { awayFailure, failureOfReply } from '../../src/store/failures.ts';

const failures = [
  unreachable('host', Object.assign(new Error('no'), { code: 'ECONNREFUSED' })),
  unreachable('host', Object.assign(new Error('no'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })),
  broken('host', Object.assign(new Error('no'), { code: 'ECONNRESET' })),
  redirected('host', 301, 'https://other'),
  tooLarge('host', 10),
  ...[...Object.keys(errorCodes), 'NEW_CODE', undefined].map((code) => {
    const body = { error: { code, message: 'text' } };
    return readServiceError({ status: 500, headers: {}, text: '' }, body, 0).failure;
  }),
];

it.each(failures)(
  'a hint never sends the user of "trdr doctor" to that command (%#)',
  (failure) => {
    expect(checkHintOf(failure)).not.toContain('trdr doctor');
  },
);

it('a hint never sends the user of "trdr store check" to that command, or away from the store', () => {
  const address = readStoreUrl('redis://host:6379/0');
  const away = awayFailure(address, 'closed', undefined, { connected: true, ownCa: false });
  for (const failure of [away, failureOfReply('WRONGTYPE of a key', 'host')]) {
    expect(hintOf(failure)).toContain('store');
    expect(checkHintOf(failure)).not.toMatch(/trdr store check|TRDR_STORE=off|store clear/);
  }
});
