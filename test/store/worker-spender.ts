import { createMeter, savedMemory, spendingMachine } from './machines.ts';

/** Makes paid calls within a shared budget until this process is killed; repeats rejected calls. */
const [store = '', service = '', name = '', ttlMs = '', folder = ''] = process.argv.slice(2);
const ask = async () => Number(await (await fetch(`${service}/me`)).text());
const meter = { ...createMeter(), ask };
const memory = savedMemory(folder, name);
const { ledger } = spendingMachine({ url: store }, meter, { name, ttlMs: Number(ttlMs), memory });
for (;;) {
  const call = await ledger.begin({ endpoint: 'user.wallet', most: 300 }).catch(() => undefined);
  if (call === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    continue;
  }
  const cu = Number(await (await fetch(`${service}/pay`)).text());
  await call.settle({ status: 200, cu });
}
