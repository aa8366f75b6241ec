import fengari from 'fengari';

const { lua, lauxlib, lualib, to_luastring: bytes } = fengari;
type State = ReturnType<typeof lauxlib.luaL_newstate>;

/** An answer of a command or a script. */
export type Reply = string | number | null | readonly Reply[];

/** Runs the Lua scripts of the store as a server does; `redis.call` calls `call`. */
export function createScriptRunner(call: (name: string, args: readonly string[]) => Reply) {
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  // Servers run Lua 5.1, where `unpack` is global.
  const unpack = bytes('unpack = table.unpack');
  lauxlib.luaL_loadbuffer(state, unpack, unpack.length, unpack);
  lua.lua_pcall(state, 0, 0, 0);

  const library = (
    name: string,
    fields: readonly string[],
    work: (values: readonly Reply[]) => Reply,
  ) => {
    lua.lua_newtable(state);
    for (const field of fields) {
      lua.lua_pushcfunction(state, (own) => {
        const values = Array.from({ length: lua.lua_gettop(own) }, (_, at) => read(own, at + 1));
        push(own, work(values));
        return 1;
      });
      lua.lua_setfield(state, -2, bytes(field));
    }
    lua.lua_setglobal(state, bytes(name));
  };
  library('redis', ['call', 'pcall'], ([name = '', ...args]) =>
    call(String(name), args.map(String)),
  );
  library('cjson', ['decode'], ([text]) => JSON.parse(String(text)));

  const setList = (name: string, values: readonly string[]) => {
    push(state, values);
    lua.lua_setglobal(state, bytes(name));
  };

  const compiled = new Map<string, Uint8Array>();
  const failed = () => new Error(`the script failed: ${lua.lua_tojsstring(state, -1)}`);

  /** Compiles a script once, and caches it under a name. */
  const compile = (text: string): Uint8Array => {
    const name = bytes(`script${compiled.size}`);
    // Remove the first line, which tells the server whether the script may run when the store is full.
    const code = bytes(text.slice(text.indexOf('\n') + 1));
    if (lauxlib.luaL_loadbuffer(state, code, code.length, name) !== lua.LUA_OK) throw failed();
    lua.lua_setglobal(state, name);
    compiled.set(text, name);
    return name;
  };

  return (text: string, keys: readonly string[], args: readonly string[]): Reply => {
    setList('KEYS', keys);
    setList('ARGV', args);
    lua.lua_getglobal(state, compiled.get(text) ?? compile(text));
    if (lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK) throw failed();
    const reply = read(state, -1);
    lua.lua_settop(state, 0);
    return reply;
  };
}

function push(state: State, value: Reply): void {
  if (value === null) lua.lua_pushboolean(state, false);
  else if (typeof value === 'string') lua.lua_pushstring(state, bytes(value));
  else if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31)
    lua.lua_pushinteger(state, value);
  else if (typeof value === 'number') lua.lua_pushnumber(state, value);
  else {
    lua.lua_newtable(state);
    for (const [at, one] of value.entries()) {
      push(state, one);
      lua.lua_rawseti(state, -2, at + 1);
    }
  }
}

function read(state: State, index: number): Reply {
  switch (lua.lua_type(state, index)) {
    case lua.LUA_TNIL:
      return null;
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(state, index) ? 1 : null;
    case lua.LUA_TNUMBER:
      return lua.lua_tonumber(state, index);
    case lua.LUA_TTABLE: {
      const values: Reply[] = [];
      const table = index < 0 ? lua.lua_gettop(state) + 1 + index : index;
      for (let at = 1; ; at++) {
        if (lua.lua_rawgeti(state, table, at) === lua.LUA_TNIL) break;
        values.push(read(state, -1));
        lua.lua_pop(state, 1);
      }
      lua.lua_pop(state, 1);
      return values;
    }
    default:
      return lua.lua_tojsstring(state, index);
  }
}
