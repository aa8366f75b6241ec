#!/usr/bin/env node
'use strict';

// Without a listener, SIGUSR1 opens a debugger port on a process that holds an API key, and SIGUSR2, by which a tail
// reopens its output, ends every other command and loses the answers in flight.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {});

/**
 * Prints an error and sets exit code 9, which means a problem of this machine. This file must run on every
 * version of Node.
 */
function refuse(message, hint) {
  process.stderr.write(`error: ${message}\nhint: ${hint}\n`);
  process.exitCode = 9;
}

const [major, minor, patch] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && (minor < 18 || (minor === 18 && patch < 1)))) {
  refuse(
    `trdr requires Node.js 20.18.1 or newer; this is ${process.versions.node}`,
    'install a newer Node.js: https://nodejs.org/en/download',
  );
} else {
  let main;
  try {
    main = require('../dist/main.cjs');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    refuse('dist/main.cjs is missing', 'run "npm run build" in a checkout, or install trdr again');
  }
  if (main) main.start();
}
