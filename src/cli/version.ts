declare const __VERSION__: string | undefined;

export const version: string = typeof __VERSION__ === 'undefined' ? '0.0.0' : __VERSION__;
