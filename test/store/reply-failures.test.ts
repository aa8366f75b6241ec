import { expect, it } from 'vitest';
import { checkHintOf, hintOf } from '../../src/base/failure.ts';
import { failureOfReply } from '../../src/store/failures.ts';

const SECRET = 'planted0secret';

/** The error replies of Redis and Valkey, and of the scripts: their code, and what the message says. */
it.each([
  ['OOM command not allowed', 'STORE_FULL', 'has no memory left (OOM)'],
  ['MISCONF Redis is configured to save', 'STORE_FULL', 'cannot save its data to disk (MISCONF)'],
  ['NOAUTH Authentication required.', 'STORE_DENIED', 'requires a password'],
  ['WRONGPASS invalid username-password pair', 'STORE_DENIED', 'rejected the user or password'],
  ["NOPERM User a has no permissions to run the 'hset' command", 'STORE_DENIED', 'for hset'],
  ['NOPERM No permissions to access a key', 'STORE_DENIED', 'for the keys of trdr'],
  ['ERR The user executing the script can’t run this command', 'STORE_DENIED', 'in a script'],
  ["ERR ACL failure in script: no permissions to run the 'get' command", 'STORE_DENIED', 'for get'],
  ['DAMAGED trdr:1:sum', 'STORE_UNFIT', 'is not a number'],
  ...[
    'LOADING',
    'MASTERDOWN',
    'READONLY',
    'UNBLOCKED',
    'CLUSTERDOWN',
    'TRYAGAIN',
    'BUSY',
    'UNKILLABLE',
  ].map((word) => [`${word} later`, 'STORE_AWAY', `is not ready (${word})`]),
  ['ERR AUTH <password> called without any password', 'STORE_UNFIT', 'has no password'],
  ['ERR unknown command', 'STORE_UNFIT', 'answered with an error (ERR)'],
  ['WRONGTYPE of a key', 'STORE_UNFIT', 'answered with an error (WRONGTYPE)'],
  ['constructor', 'STORE_UNFIT', 'answered with an error (ERR)'],
  ['', 'STORE_UNFIT', 'answered with an error (ERR)'],
])('%j is %s and quotes nothing else of the reply', (text, code, says) => {
  const failure = failureOfReply(`${text} '${SECRET}'`, 'host');
  expect(failure).toMatchObject({ kind: 'network', code, retryable: code === 'STORE_AWAY' });
  expect(failure.message).toContain(says);
  const hints = [hintOf(failure), checkHintOf(failure)];
  expect(hints).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
  expect(`${failure.message} ${hints}`).not.toContain(SECRET);
});
