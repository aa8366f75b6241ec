import type { Io } from './io.ts';

/**
 * The variables by which only agents announce themselves, with their names; undefined: the value is
 * the name.
 */
export const agentVariables: Readonly<Record<string, string | undefined>> = {
  AI_AGENT: undefined,
  CLAUDECODE: 'claude-code',
  CLAUDE_CODE: 'claude-code',
  CURSOR_AGENT: 'cursor',
  VSCODE_AGENT: 'vscode',
  GEMINI_CLI: 'gemini-cli',
  CODEX_SANDBOX: 'codex',
  CODEX_SANDBOX_NETWORK_DISABLED: 'codex',
  CODEX_THREAD_ID: 'codex',
  COPILOT_AGENT: 'copilot',
  COPILOT_AGENT_SESSION_ID: 'copilot',
  COPILOT_CLI: 'copilot',
  AUGMENT_AGENT: 'augment',
  OPENCODE: 'opencode',
  OPENCODE_CLIENT: 'opencode',
  GOOSE_TERMINAL: 'goose',
  AMP_CURRENT_THREAD_ID: 'amp',
  CLINE_ACTIVE: 'cline',
  ROO_ACTIVE: 'roo-code',
  TRAE_AI_SHELL_ID: 'trae',
  QWEN_CODE: 'qwen-code',
  ANTIGRAVITY_AGENT: 'antigravity',
  CRUSH: 'crush',
};

/** Whether a variable is set, and not to an empty value, 0, false, no or off. */
export const isOn = (value: string | undefined): boolean =>
  value !== undefined && !/^(0|false|no|off)?$/i.test(value.trim());

export function agentOf(env: Io['env']): string | undefined {
  const [variable] = Object.keys(agentVariables).filter((name) => isOn(env[name]));
  if (variable === undefined) return undefined;
  return agentVariables[variable] ?? env[variable]?.trim().slice(0, 100);
}
