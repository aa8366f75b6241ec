// Imported by path: the index of undici also loads fetch and WebSocket, which takes longer than a
// request.
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client } from 'undici';

  const part: typeof Client;
  export default part;
}
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici';

  const part: typeof Pool;
  export default part;
}
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import type { ProxyAgent } from 'undici';

  const part: typeof ProxyAgent;
  export default part;
}
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const part: Dispatcher['connect'];
  export default part;
}
