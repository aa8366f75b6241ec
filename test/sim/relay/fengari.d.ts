/** The part of fengari that the simulation uses. */
declare module 'fengari' {
  interface LuaState {
    readonly lua: unique symbol;
  }
  type LuaFunction = (state: LuaState) => number;
  const fengari: {
    readonly lua: {
      lua_pushstring(state: LuaState, text: Uint8Array): void;
      lua_pushnumber(state: LuaState, value: number): void;
      lua_pushinteger(state: LuaState, value: number): void;
      lua_pushboolean(state: LuaState, value: boolean): void;
      lua_pushcfunction(state: LuaState, call: LuaFunction): void;
      lua_newtable(state: LuaState): void;
      lua_rawseti(state: LuaState, index: number, at: number): void;
      lua_rawgeti(state: LuaState, index: number, at: number): number;
      lua_setfield(state: LuaState, index: number, name: Uint8Array): void;
      lua_getglobal(state: LuaState, name: Uint8Array): number;
      lua_setglobal(state: LuaState, name: Uint8Array): void;
      lua_gettop(state: LuaState): number;
      lua_settop(state: LuaState, top: number): void;
      lua_pop(state: LuaState, count: number): void;
      lua_type(state: LuaState, index: number): number;
      lua_tonumber(state: LuaState, index: number): number;
      lua_toboolean(state: LuaState, index: number): boolean;
      lua_tojsstring(state: LuaState, index: number): string;
      lua_pcall(state: LuaState, args: number, results: number, handler: number): number;
      readonly LUA_OK: number;
      readonly LUA_TNIL: number;
      readonly LUA_TBOOLEAN: number;
      readonly LUA_TNUMBER: number;
      readonly LUA_TTABLE: number;
    };
    readonly lauxlib: {
      luaL_newstate(): LuaState;
      luaL_loadbuffer(state: LuaState, code: Uint8Array, size: number, name: Uint8Array): number;
      luaL_error(state: LuaState, text: Uint8Array): number;
    };
    readonly lualib: { luaL_openlibs(state: LuaState): void };
    to_luastring(text: string): Uint8Array;
  };
  export default fengari;
}
