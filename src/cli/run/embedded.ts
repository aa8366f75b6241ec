import { startSandbox } from '../../sandbox/index.ts';

/** Starts the embedded service for one command. For a stream, the service creates new posts. */
export async function startEmbedded(live: boolean) {
  const sandbox = await startSandbox({ seed: 1, plan: 'scale', rate: live ? 40 : 0 });
  return { url: sandbox.url, key: sandbox.key, close: () => sandbox.close() };
}
