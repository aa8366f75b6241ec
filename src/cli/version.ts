declare const __VERSION__: string | undefined;

/** The version of the program, which the build inserts. */
export const version: string = typeof __VERSION__ === 'undefined' ? '0.0.0' : __VERSION__;
