declare const __VERSION__: string | undefined;

/** The version of this trdr; the build inserts it. */
export const version: string = typeof __VERSION__ === 'undefined' ? '0.0.0' : __VERSION__;
