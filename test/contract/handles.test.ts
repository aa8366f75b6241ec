import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../src/contract/endpoints.ts';
import {
  bareHandle,
  distinctHandles,
  normalHandle,
  servedHandle,
} from '../../src/contract/handles.ts';
import { BATCH_MAX, HANDLE_MAX } from '../../src/contract/limits.ts';

describe('a handle', () => {
  it.each(['mira', '@mira', '@@mira', '@@@mira', ' @mira ', '@ mira', '@Mira', 'MIRA'])(
    'has one normal form for all its spellings: %j',
    (text) => {
      expect(normalHandle(text)).toBe('mira');
    },
  );

  it('is sent without @, in its own case', () => {
    expect(bareHandle(' @@Mira')).toBe('Mira');
  });

  it('is the same for the service as for trdr, once trdr has removed what people write around it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.nat({ max: 3 }), (name, count) => {
        const bare = bareHandle(`${'@'.repeat(count)}${name}`);
        expect(bare.startsWith('@')).toBe(false);
        expect(servedHandle(bare)).toBe(normalHandle(name));
      }),
    );
  });

  it('is charged by the rule of the service, which removes one @', () => {
    expect(distinctHandles(['@Mira', 'mira', 'MIRA ', 'sol', '@sol', '@@sol'])).toEqual([
      '@Mira',
      'sol',
      '@@sol',
    ]);
  });

  it.each([
    ['1 character', 'a', true],
    [`${HANDLE_MAX} characters`, 'a'.repeat(HANDLE_MAX), true],
    [`@ and ${HANDLE_MAX} characters`, `@${'a'.repeat(HANDLE_MAX)}`, true],
    ['nothing', '', false],
    [`${HANDLE_MAX + 1} characters`, 'a'.repeat(HANDLE_MAX + 1), false],
    [`@@ and ${HANDLE_MAX} characters`, `@@${'a'.repeat(HANDLE_MAX)}`, false],
  ])('of %s is judged by what the service keeps of it', (_, handle, isAccepted) => {
    const { params } = endpoints['user.handle'];
    const { body } = endpoints['users.pnl'];
    const alone = params?.safeParse({ handle });
    const batch = body?.safeParse({ handles: Array.from({ length: BATCH_MAX }, () => handle) });
    expect([alone?.success, batch?.success]).toEqual([isAccepted, isAccepted]);
  });
});
