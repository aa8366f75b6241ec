import type { Period } from './periods.ts';

/** Words about the world, or the facts from which the command line words the hint. */
export type Hint = string | FailureFacts;

/**
 * What is known of a failure whose hint names a command, a flag or a variable of the command line.
 * The code that fails states these facts, and `src/cli/hint-words.ts` has the words for them.
 */
export type FailureFacts =
  | { readonly about: PlainSubject }
  /** Advice about the connection, which `trdr doctor` can confirm. */
  | { readonly about: 'checkable'; readonly advice: string }
  | BudgetFacts
  | ProfileFacts
  /** The config file, which cannot be read. */
  | { readonly about: 'config'; readonly path: string }
  /** An invalid value of a setting that a profile has. */
  | { readonly about: 'savedSetting'; readonly name: string; readonly profile: string }
  /** A text that cannot be a key, and the profile that has it. */
  | { readonly about: 'keyFormat'; readonly profile: string | undefined }
  | { readonly about: 'shortenedWallet'; readonly mayBeHandle: boolean }
  /** The units of the key do not cover a call. */
  | { readonly about: 'unitsLeft'; readonly isGrantedOnce: boolean }
  /** A batch answer lacks a handle, and contains these that were not requested. */
  | { readonly about: 'notInAnswer'; readonly others: readonly string[] }
  /** An error reply of the store whose cause is not known, and its code, such as BUSYGROUP. */
  | { readonly about: 'reply'; readonly code: string }
  | StoreAwayFacts
  | { readonly about: 'damagedSum'; readonly key: string }
  | { readonly about: 'lostBudgets'; readonly budgets: readonly LostBudget[] }
  | { readonly about: 'paidCallsStopped'; readonly by: 'setting' | 'budget' };

/** What a hint can be about without any details. */
export type PlainSubject =
  // a call and its answer
  | 'insecureHttp'
  | 'timeout'
  | 'spendingLimit'
  | 'unpricedCall'
  | 'apiPath'
  | 'invalidCursor'
  | 'invalidRequest'
  | 'invalidKey'
  | 'unitsUsedUp'
  | 'revealsUsedUp'
  | 'permissions'
  | 'scopes'
  | 'freeTier'
  | 'differentService'
  | 'unknownErrorCode'
  // a subject
  | 'keyAsSubject'
  | 'notHandle'
  | 'shortenedHandle'
  | 'invalidId'
  // numbers and lists
  | 'noRevealsLeft'
  | 'noHandle'
  | 'notRepeated'
  | 'plannedPages'
  | 'noIds'
  | 'noTimes'
  // a tail
  | 'unanswered'
  | 'endTooEarly'
  | 'blockedOutput'
  | 'noUnitsLeft'
  | 'rejectedSubscription'
  | 'noSocket'
  | 'budgetOfStream'
  | 'limitOfStream'
  | 'deadLetters'
  | 'noDeadLetterFolder'
  // an export
  | 'unfinishedExport'
  | 'otherExport'
  | 'stoppedExport'
  | 'exportOnFullDisk'
  // the store
  | 'storeFull'
  | 'storeAlmostFull'
  | 'storeNeedsPassword'
  | 'storePasswordWrong'
  | 'storePasswordUnused'
  | 'storePasswordInUrl'
  | 'storePlain'
  | 'storeNewer'
  | 'scriptDenied'
  | 'evictingStore';

/** The budget that refused a call. */
export interface BudgetFacts {
  readonly about: 'budget';
  readonly period: Period;
  /** The machine whose spending the budget limits; undefined if it limits a profile or a key. */
  readonly machine: string | undefined;
  /** The CU that were left when it refused. */
  readonly left: number;
  /** A call of unknown price fits in no budget, however high. */
  readonly isPriceKnown: boolean;
}

/** A budget that the store has lost, and this machine remembers. */
export interface LostBudget {
  readonly period: Period;
  readonly scope: 'profile' | 'key' | 'machine';
  /** The name of the profile or machine; empty for a key. */
  readonly name: string;
  readonly cu: number;
}

/** A profile that does not exist, and the names of those that do. */
export interface ProfileFacts {
  readonly about: 'profile';
  readonly name: string;
  readonly names: readonly string[];
}

/** Why the store cannot be used. */
export interface StoreAwayFacts {
  readonly about: 'storeAway';
  /** `otherAuthority` is a certificate that was not signed by the authority of the user. */
  readonly problem: TlsProblem | 'otherAuthority' | undefined;
  /** The scheme that the URL may need instead of its own. */
  readonly otherScheme: 'redis' | 'rediss' | undefined;
}

/** What is wrong with a TLS connection. */
export type TlsProblem =
  | 'expired'
  | 'early'
  | 'selfSigned'
  | 'untrusted'
  | 'otherHost'
  | 'notTls'
  | 'version'
  | 'clientCertificate'
  | 'certificate'
  | 'handshake';
