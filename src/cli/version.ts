declare const __VERSION__: string | undefined;

/** The version of this trdr; a build writes it in. */
export const version: string = typeof __VERSION__ === 'undefined' ? '0.0.0' : __VERSION__;
