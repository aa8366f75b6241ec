import type {
  BudgetFacts,
  FailureFacts,
  LostBudget,
  PlainSubject,
  ProfileFacts,
  StoreAwayFacts,
  TlsProblem,
} from '../base/failure-facts.ts';
import { untilRenewal } from '../core/account.ts';
import { didYouMean } from '../output/suggest.ts';

/** A hint that sends the user to a command that checks what is wrong. */
interface CheckedHint {
  readonly hint: string;
  /** The hint for a user who already runs that command. */
  readonly checkHint: string;
}

export type HintWords = string | CheckedHint;

/** The words for facts. A hint without any details is a row of `plainHints`. */
export function hintWords(facts: FailureFacts): HintWords {
  switch (facts.about) {
    case 'checkable':
      return { hint: `${facts.advice}: trdr doctor`, checkHint: facts.advice };
    case 'budget':
      return budgetHint(facts);
    case 'lostBudgets':
      return lostBudgetsHint(facts.budgets);
    case 'damagedSum':
      return `remove the key from the store: DEL '${facts.key}'; then set the budgets again with "trdr budget set"`;
    case 'profile':
      return profileHint(facts);
    case 'config':
      return `fix it by hand, or move it away and log in again: mv '${facts.path}' '${facts.path}.broken' && trdr auth login`;
    case 'savedSetting':
      return savedSettingHint(facts.name, facts.profile);
    case 'keyFormat':
      return `run "trdr auth login${profileFlag(facts.profile)}" and paste the key exactly as you received it`;
    case 'shortenedWallet':
      return facts.mayBeHandle
        ? `${WHOLE_WALLET}; if this is a handle, write it as @handle`
        : WHOLE_WALLET;
    case 'unitsLeft':
      return `top up, ${untilRenewal(facts)}; "trdr me" shows what is left`;
    case 'notInAnswer':
      return notInAnswerHint(facts.others);
    case 'reply':
      return {
        hint: 'if another program uses this database, set a different storePrefix; "trdr store clear all" removes what it has overwritten',
        checkHint: 'check that the server is Redis 7.0 or newer, or Valkey',
      };
    case 'storeAway':
      return storeAwayHint(facts);
    case 'paidCallsStopped':
      return `run "trdr store check" to see why the store is unavailable; ${stoppedBy[facts.by]}`;
    default:
      return plainHints[facts.about];
  }
}

/** A hint to see in `trdr doctor`, which shows it below to a user who runs it. */
const seeInDoctor = (what: string): CheckedHint => ({
  hint: `run "trdr doctor" to see ${what}`,
  checkHint: `see below ${what}`,
});

/** It is true for every plan, because an error of the service does not say which one the key has. */
const UNITS_USED_UP =
  'top up, or wait for the next UTC month; those of a free key (Explore) were granted once: change its plan. "trdr me" shows what is left';

/** @internal Exported for tests. */
export const plainHints: Readonly<Record<PlainSubject, HintWords>> = {
  insecureHttp: 'use https, or pass --insecure-http to accept the risk',
  timeout: 'allow more time with --timeout',
  spendingLimit: 'raise --max-cu',
  unpricedCall:
    'to send the call, remove the spending limit (--max-cu or the setting maxCu) and pass --yes',
  apiPath: 'write it like this: trdr api /v2/me',
  invalidCursor:
    'the pages so far were printed; to continue, pass the id of the last item with -f before=ID',
  invalidRequest: 'fix the part that the message names; --debug shows the request that was sent',
  invalidKey: 'check the key: trdr auth status --check',
  unitsUsedUp: UNITS_USED_UP,
  revealsUsedUp: 'show the remaining reveals and the reset date: trdr me',
  permissions:
    'see whether the plan of the key allows it: trdr me; a free key (Explore) reveals the wallets of a few sample accounts only',
  scopes: 'show the scopes of the key: trdr me',
  freeTier: 'the key has no units: change its plan, or use another key; "trdr me" shows the plan',
  differentService: seeInDoctor('how the service differs from its description'),
  unknownErrorCode: seeInDoctor(
    'how the service has changed; this version of trdr does not know this error code',
  ),
  keyAsSubject:
    'save the key with "trdr auth login" or set TRDR_API_KEY; revoke it if others may have seen this command line',
  notHandle:
    'use "trdr whois" to find the handle of a wallet or id; if this is a handle, write it as @handle',
  shortenedHandle: 'pass the whole handle: tables show it with --wide, files and pipes always',
  invalidId: 'copy the whole id, or remove --as id',
  noRevealsLeft:
    'a top-up does not add reveals: upgrade the plan, or wait for the next UTC month; "trdr me" shows what is left',
  noHandle: 'use "trdr whois" to see the user',
  notRepeated:
    'trdr does not repeat this request in this run, because it might be charged twice; to repeat it, run the command again (with --resume if it writes to a file)',
  plannedPages: 'pass --max-cu N to read on',
  noIds: 'try again later; run "trdr doctor" to see how the service differs from its description',
  noTimes:
    'use --limit instead; run "trdr doctor" to see how the service differs from its description',
  unanswered: 'run the command again, or run "trdr doctor" to see what is wrong',
  endTooEarly: 'run the command again with a longer --duration',
  blockedOutput:
    'check the program that reads the output; with --checkpoint FILE, the next run continues where this run stopped',
  noUnitsLeft: UNITS_USED_UP,
  rejectedSubscription: 'use --via poll, which needs no subscription',
  noSocket: 'remove --via',
  budgetOfStream: 'run "trdr budget show" to see what is left, or use polling: --via poll',
  limitOfStream: 'raise --max-cu, or use polling: --via poll',
  deadLetters:
    'when the cause is fixed, move that file away and hand it over again with --replay FILE (see docs/exec.md)',
  noDeadLetterFolder: 'set TRDR_STATE_DIR to a folder, or retry forever with --tries 0',
  unfinishedExport: 'add --resume to continue, or --fresh to start over and pay again',
  otherExport:
    'finish that export first, write to a different file, or add --fresh to start over and pay again',
  stoppedExport: 'remove the cause and run the same command again with --resume',
  exportOnFullDisk: 'free some disk space and run the same command again with --resume',
  storeFull: 'raise maxmemory, or run "trdr store clear cache" to remove cached answers',
  storeAlmostFull: 'raise maxmemory, or store fewer posts: trdr thesis relay --keep, --keep-rows',
  storeNeedsPassword:
    'run "trdr store login URL", which prompts for the password, or set TRDR_STORE_PASSWORD',
  storePasswordWrong: 'run "trdr store login" again, or check TRDR_STORE_PASSWORD',
  storePasswordUnused:
    'run "trdr store login" again without a password and unset TRDR_STORE_PASSWORD, or set a password on the server',
  storePasswordInUrl:
    'remove the password from the URL; save it with "trdr store login", or set TRDR_STORE_PASSWORD',
  storePlain: 'use rediss://, or allow it with: trdr config set storePlain true',
  storeNewer:
    'upgrade trdr on this machine, or use a different prefix: trdr config set storePrefix NAME',
  scriptDenied: 'run "trdr store check", which names the command',
  evictingStore:
    'set "maxmemory-policy noeviction" on the server, then set the budgets again with "trdr budget set"',
};

function budgetHint({ period, machine, isPriceKnown }: BudgetFacts): string {
  if (isPriceKnown) return `wait until the budget renews, or ${raiseBudgetText(period, machine)}`;
  return `remove the budget to send the call: trdr budget unset ${period}${machineFlag(machine)}`;
}

/** How to raise a budget: `raise it: trdr budget set day N`. */
export const raiseBudgetText = (period: string, machine: string | undefined): string =>
  `raise it: trdr budget set ${period} N${machineFlag(machine)}`;

const machineFlag = (machine: string | undefined): string =>
  machine === undefined ? '' : ` --machine ${machine}`;

function lostBudgetsHint(budgets: readonly LostBudget[]): string {
  const it = budgets.length > 1 ? 'them' : 'it';
  const flagOf = ({ scope, name }: LostBudget) => machineFlag(scope === 'key' ? undefined : name);
  const set = budgets.map(
    (budget) => `"trdr budget set ${budget.period} ${budget.cu}${flagOf(budget)}"`,
  );
  const unset = budgets.map((budget) => `"trdr budget unset ${budget.period}${flagOf(budget)}"`);
  return `set ${it} again: ${set.join(' and ')}; or drop ${it}: ${unset.join(' and ')}`;
}

function profileHint({ name, names }: ProfileFacts): string {
  if (names.length === 0) return 'no profiles are saved yet: run "trdr auth login"';
  const near = didYouMean(name, names, (other) => `"${other}"`);
  const all = `available profiles: ${names.join(', ')}; "trdr auth login --profile NAME" creates another`;
  return near === '' ? all : `${near} ${all}`;
}

function savedSettingHint(name: string, profile: string): string {
  const flag = profileFlag(profile);
  const [, period] = /^budget(Day|Month)$/.exec(name) ?? [];
  if (period) return `run "trdr budget unset ${period.toLowerCase()}${flag}", and set it again`;
  return `run "trdr config set ${name} VALUE${flag}" or "trdr config unset ${name}${flag}"`;
}

const profileFlag = (profile: string | undefined): string =>
  profile === undefined ? '' : ` --profile ${profile}`;

const WHOLE_WALLET = 'pass the whole wallet: tables show it with --wide, files and pipes always';

function notInAnswerHint(others: readonly string[]): string {
  if (others.length === 0)
    return 'request this handle alone with "trdr pnl"; this run does not request it again, because it may have been charged';
  const handles = others.map((name) => `@${name}`).join(', ');
  return `check with "trdr whois" whether the trader was renamed; the answer contains ${handles} instead`;
}

const stoppedBy = {
  setting: 'the setting storeAway=stop stops paid calls without the store',
  budget: 'this key has a shared budget, which cannot be checked without the store',
};

/**
 * If the connection failed before it was ready, the address may belong to another kind of server,
 * or have the wrong scheme.
 */
function storeAwayHint({ problem, otherScheme }: StoreAwayFacts): CheckedHint {
  const fix = problem && tlsFixes[problem];
  const away = 'run "trdr store check" to see whether the store is running and reachable';
  const inCheck = 'check that the address is right and that the server is running and reachable';
  const scheme = otherScheme === undefined ? '' : `; ${schemeHints[otherScheme]}`;
  return {
    hint: `${fix ?? away}${scheme}; set TRDR_STORE=off to run without the store`,
    checkHint: `${fix ?? inCheck}${scheme}`,
  };
}

const schemeHints = {
  redis: 'if the server does not use TLS, write redis://',
  rediss: 'if the server requires TLS, write rediss://',
};

const CA_FIX =
  'set the certificate of its authority: trdr config set storeCa FILE, or TRDR_STORE_CA';

const tlsFixes: Partial<Record<TlsProblem | 'otherAuthority', string>> = {
  expired: 'check the clock of this machine; if it is correct, renew the certificate of the server',
  early: 'check the clock of this machine',
  selfSigned: CA_FIX,
  untrusted: CA_FIX,
  otherAuthority: 'set the right certificate file: trdr config set storeCa FILE, or TRDR_STORE_CA',
  otherHost: 'use the host name in the certificate, or issue a certificate for this host',
  notTls: 'use redis:// instead of rediss:// in the URL',
  version: 'enable TLS 1.2 or newer in the configuration of the server',
  clientCertificate: 'set "tls-auth-clients no" in the configuration of the server',
};
